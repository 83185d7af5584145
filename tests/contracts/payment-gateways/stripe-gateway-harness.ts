import type { AccountSecrets } from "../../../src/application/ports/accounts/account-secrets";
import type { OperationKind } from "../../../src/domain/payment/operation";
import { StripeGateway } from "../../../src/infrastructure/gateways/stripe/stripe-gateway";
import { StripeTransport } from "../../../src/infrastructure/gateways/stripe/stripe-transport";
import { StripeStandIn, type StripeFault } from "../../support/stripe-stand-in/stripe-stand-in";
import { gatewayLayerNames } from "../../../src/infrastructure/gateways/contract/gateway-layers";
import { actsLater } from "../../../src/infrastructure/gateways/contract/contract-test";
import type { GatewaySituation, GatewayUnderTest, OpenedGateway } from "../../../src/gateway-contract";

const faults: Record<GatewaySituation, StripeFault> = {
  authorization_gone: "lapsed",
  refused: "refused",
  silent_after_acting: "silent_after_acting",
  silent_before_acting: "silent_before_acting",
  lands_late: "lands_late",
  fails_later: "fails_later",
  server_error: "error_before_acting",
  stored_server_error: "stored_500_before_acting",
  stored_server_error_after_acting: "stored_500_after_acting",
  unreachable: "rate_limited",
  undecided: "undecided",
  undecided_then_refused: "undecided_then_refused",
  too_slow: "silent_before_acting",
  nonsense_after_acting: "proxy_page_after_acting",
  reset_before_acting: "reset_before_acting",
  reset_after_acting: "reset_after_acting",
  captured_elsewhere: "captured_elsewhere",
  captured_elsewhere_later: "captured_elsewhere_later",
  voided_elsewhere_later: "voided_elsewhere_later",
  refunded_elsewhere_later: "refunded_elsewhere_later",
  disputed_later: "disputed_later",
};

/** A deadline that has come as soon as nothing more will: no test waits for time. */
export class DeadlineAtSilence {
  private readonly pending = new Set<AbortController>();

  readonly deadline = (): AbortSignal => {
    const controller = new AbortController();
    this.pending.add(controller);
    return controller.signal;
  };

  readonly silence = (): void => {
    for (const controller of this.pending) controller.abort();
    this.pending.clear();
  };
}

export type StripeUnderTest = Required<OpenedGateway> & {
  readonly gateway: StripeGateway;
  readonly standIn: StripeStandIn;
};

export async function startStripe(
  keyOf: AccountSecrets["keyOf"] = async () => null,
): Promise<StripeUnderTest> {
  const standIn = new StripeStandIn();
  const time = new DeadlineAtSilence();
  standIn.onSilence = time.silence;
  await standIn.listen();
  const gateway = StripeGateway.open({
    apiKey: "sk_test_abc",
    url: standIn.url,
    keyOf,
    transport: new StripeTransport(time.deadline),
  });
  return {
    standIn,
    gateway,
    paymentMethod: (kind?: OperationKind, situation?: GatewaySituation) => {
      if (kind !== undefined && situation !== undefined) standIn.arm(kind, faults[situation]);
      return "pm_card_visa";
    },
    madeElsewhere: async (merchant) => {
      const form = { payment_method: "pm_card_visa", capture_method: "manual", confirm: "true" };
      const of = merchant === null ? {} : { "metadata[holdfast_merchant]": merchant };
      const asked = new URLSearchParams({ ...form, ...of, amount: "5000", currency: "eur" });
      return (standIn.world.create(asked, "as asked").body as { id: string }).id;
    },
    moves: async (paymentId) =>
      standIn.world.moves
        .filter((move) => move.paymentId === paymentId)
        .map(({ kind, amount }) => ({ kind, amount: BigInt(amount) })),
    reserved: async (_paymentId, reference) =>
      BigInt(standIn.world.intents.get(reference)?.amount_capturable ?? -1),
    timePasses: async () => standIn.timePasses(),
    stop: async () => {
      gateway.close();
      await standIn.close();
    },
  };
}

export const stripeGatewayHarness: GatewayUnderTest = {
  name: "StripeGateway",
  layers: gatewayLayerNames,
  // Only a refused authorization leaves a trace in an object; the other refusals are known to the key alone.
  findsRefusals: (kind) => kind === "authorize",
  looksUpAuthorizations: true,
  canBring: (kind, situation) => {
    switch (situation) {
      case "authorization_gone":
        return kind === "capture" || kind === "void";
      case "captured_elsewhere":
        return kind === "void";
      case "fails_later":
        return kind === "refund";
      case "undecided_then_refused":
        // A capture that fails ends its authorization.
        return kind === "authorize" || kind === "refund";
      case "refused":
      case "undecided":
        // A cancellation is carried out at once, and nobody else has a say in it.
        return kind !== "void";
      default:
        return actsLater[situation] === undefined || actsLater[situation] === kind;
    }
  },
  open: () => startStripe(),
};
