import { assertIsGateway } from "./assert-is-gateway";
import { CheckedGateway } from "./checked-gateway";
import { loadGatewayModule } from "./load-gateway-module";
import type { GatewayOptions } from "./own-gateway";

/** For loading the module, and again for what it opens: it may ask its bank whether its key is good. */
const START_MS = 30_000;

/** The gateway of a module. Throws `GatewayModuleError`. */
export async function openGatewayModule(
  file: string,
  options: GatewayOptions,
  startMs = START_MS,
): Promise<CheckedGateway> {
  const opened = await loadGatewayModule(file, options, startMs);
  assertIsGateway(opened);
  return new CheckedGateway(opened, options);
}
