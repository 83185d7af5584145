import { ContainerModule } from "inversify";
import type { KeysOfAccounts, OpenGateway } from "../opening/open-gateway";
import { tokens } from "./tokens";

export function gatewayModule(
  { gateway, hasAccounts, moves, customerPages, probe, events }: OpenGateway,
  { askKeyOwner, stripeApiKey }: KeysOfAccounts,
): ContainerModule {
  return new ContainerModule(({ bind }) => {
    bind(tokens.gateway).toConstantValue(gateway);
    bind(tokens.gatewayAccount).toConstantValue("shared");
    bind(tokens.authorizationLookup).toConstantValue(gateway);
    bind(tokens.gatewayAccounts).toResolvedValue(
      (accounts) => (hasAccounts === true ? accounts : undefined),
      [tokens.merchantAccounts],
    );
    bind(tokens.askKeyOwner).toConstantValue(askKeyOwner);
    bind(tokens.stripeApiKey).toConstantValue(stripeApiKey);
    bind(tokens.gatewayMoves).toConstantValue(moves);
    bind(tokens.customerPages).toConstantValue(customerPages);
    bind(tokens.gatewayProbe).toConstantValue(probe);
    bind(tokens.gatewayEvents).toConstantValue(events);
  });
}
