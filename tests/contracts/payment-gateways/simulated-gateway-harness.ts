import type { OperationKind } from "../../../src/domain/payment/operation";
import type { GatewayLedger } from "../../../src/infrastructure/gateways/simulated/ledgers/gateway-ledger";
import { SimulatedGateway } from "../../../src/infrastructure/gateways/simulated/simulated-gateway";
import { gatewayLayerNames } from "../../../src/infrastructure/gateways/contract/gateway-layers";
import { actsLater } from "../../../src/infrastructure/gateways/contract/contract-test";
import type { GatewaySituation, GatewayUnderTest } from "../../../src/gateway-contract";

const LATE_MS = 30_000;
/** After what is pending is decided, and before what is decided can change. */
const LATER_MS = 3_600_000;

const endings: Partial<Record<GatewaySituation, string>> = {
  refused: "decline",
  authorization_gone: "authorization_gone",
  silent_after_acting: "timeout_captured",
  silent_before_acting: "timeout_not_captured",
  lands_late: `late_${LATE_MS}`,
  fails_later: `fails_later_${LATE_MS}`,
  server_error: "error_500",
  stored_server_error: "error_500_stored",
  unreachable: "unreachable",
  undecided: "pending",
  undecided_then_refused: "pending_then_failed",
  too_slow: "slow_60000",
  captured_elsewhere: "captured_elsewhere",
};

const laterTokens: Partial<Record<GatewaySituation, string>> = {
  captured_elsewhere_later: `tok_captured_elsewhere_${LATE_MS}`,
  voided_elsewhere_later: `tok_voided_elsewhere_${LATE_MS}`,
  refunded_elsewhere_later: `tok_refunded_elsewhere_${LATE_MS}`,
  disputed_later: `tok_dispute_${LATE_MS}`,
};

/** Every token of the simulated gateway, on a ledger of the given kind, with a clock that only tests move. */
export function simulatedGatewayHarness(
  name: string,
  openLedger: () => Promise<{ readonly ledger: GatewayLedger; readonly close: () => void | Promise<void> }>,
): GatewayUnderTest {
  return {
    name,
    layers: gatewayLayerNames,
    looksUpAuthorizations: true,
    canBring: (kind, situation) =>
      (situation in laterTokens ? actsLater[situation] === kind : situation in endings) &&
      !(kind === "authorize" && situation === "authorization_gone") &&
      (kind === "void" || situation !== "captured_elsewhere") &&
      (kind === "refund" || situation !== "fails_later"),
    open: async () => {
      const { ledger, close } = await openLedger();
      let now = Date.parse("2026-11-18T09:00:00.000Z");
      const clock = { now: () => new Date(now) };
      const gateway = new SimulatedGateway({ ledger, clock, sleep: async () => undefined });
      return {
        gateway,
        paymentMethod: (kind: OperationKind = "capture", situation?: GatewaySituation) =>
          situation === undefined
            ? "tok_ok"
            : (laterTokens[situation] ?? `tok_${kind}_${endings[situation] ?? "ok"}`),
        madeElsewhere: async (merchant) =>
          `ext_5000_eur_elsewhere${merchant === null ? "" : `.for_${merchant}`}`,
        moves: async (paymentId) =>
          (await gateway.moves(paymentId)).map(({ kind, amount }) => ({ kind, amount: amount.amount })),
        reserved: async (paymentId, reference) =>
          (await gateway.authorization(paymentId, reference))?.reserved ?? -1n,
        timePasses: async () => {
          now += LATER_MS;
        },
        stop: async () => {
          await close();
        },
      };
    },
  };
}
