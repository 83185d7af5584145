import { ContainerModule } from "inversify";
import type { OpenGateway } from "../opening/open-gateway";
import { tokens } from "./tokens";

export function gatewayModule({ gateway, hasAccounts, moves, probe, events }: OpenGateway): ContainerModule {
  return new ContainerModule(({ bind }) => {
    bind(tokens.gateway).toConstantValue(gateway);
    bind(tokens.gatewayAccount).toConstantValue("shared");
    bind(tokens.authorizationLookup).toConstantValue(gateway);
    bind(tokens.gatewayAccounts).toResolvedValue(
      (accounts) => (hasAccounts === true ? accounts : undefined),
      [tokens.merchantAccounts],
    );
    bind(tokens.gatewayMoves).toConstantValue(moves);
    bind(tokens.gatewayProbe).toConstantValue(probe);
    bind(tokens.gatewayEvents).toConstantValue(events);
  });
}
