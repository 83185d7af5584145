import { openGatewayModule } from "../../../../src/infrastructure/gateways/module/open-gateway-module";

const [file = "", startMs = ""] = process.argv.slice(2);

openGatewayModule(file, {}, Number(startMs)).then(
  () => console.log("opened"),
  (error: Error) => console.log(`${error.name}: ${error.message}`),
);
