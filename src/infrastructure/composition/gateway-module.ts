import { ContainerModule } from "inversify";
import type { Clock } from "../../application/ports/clock";
import type { PaymentGateway } from "../../application/ports/payment-gateway";
import type { PaymentId } from "../../domain/identifiers";
import type { GatewaySetting } from "../configuration/adapter-urls";
import type { GatewayLedger, GatewayMove } from "../gateways/simulated/gateway-ledger";
import { SimulatedGateway } from "../gateways/simulated/simulated-gateway";
import { tokens } from "./tokens";

export interface OpenGateway {
  readonly gateway: PaymentGateway;
  /** How often money moved; only the simulated gateway can tell. */
  readonly moves?: (paymentId: PaymentId) => Promise<readonly GatewayMove[]>;
}

export async function openGateway(
  setting: GatewaySetting,
  clock: Clock,
  openLedger: () => Promise<GatewayLedger>,
): Promise<OpenGateway> {
  switch (setting) {
    case "simulated": {
      const gateway = new SimulatedGateway({ ledger: await openLedger(), clock });
      return { gateway, moves: (paymentId) => gateway.moves(paymentId) };
    }
    case "stripe":
      throw new Error("stripe is not opened here yet");
  }
}

export function gatewayModule({ gateway }: OpenGateway): ContainerModule {
  return new ContainerModule(({ bind }) => {
    bind(tokens.gateway).toConstantValue(gateway);
  });
}
