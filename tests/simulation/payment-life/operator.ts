import { anAct } from "../../support/an-act";
import type { PaymentRepository } from "../../../src/application/ports/payment-repository";
import { ReviewOperations, type ReviewCase } from "../../../src/application/use-cases/review-operations";
import type { OperationId } from "../../../src/domain/identifiers";
import { gatewayKey, type Operation } from "../../../src/domain/payment/operation";
import { PaymentError } from "../../../src/domain/payment/errors";
import type { ReviewVerdict } from "../../../src/domain/payment/facts";
import type { LedgerState } from "../../../src/infrastructure/gateways/simulated/ledgers/gateway-ledger";
import type { GatewayDealings } from "./judges/gateway-dealings";
import type { ServiceProcess } from "./service-process";

export type Verdict = ReviewVerdict["outcome"];
const REASON = "the gateway's books were read wrongly, as far as anybody knows";
const actor = { key: "operator" };

export interface OperatorParts {
  readonly payments: PaymentRepository;
  readonly gateway: GatewayDealings;
  readonly resolve?: typeof resolveReview;
}

/** How a verdict reaches the service; a planted mistake takes another way. */
export async function resolveReview(
  process: ServiceProcess,
  operationId: OperationId,
  verdict: ReviewVerdict,
): Promise<void> {
  await new ReviewOperations(process.locks, process.context).resolve(
    operationId,
    verdict,
    {
      actor,
      lockTimeout: "infinite",
    },
    anAct,
  );
}

/** Persons who read the list of reviews and the gateway's books, and decide; right or wrong. */
export class Operator {
  /** Operations about which somebody knew better than the gateway, or believed so. */
  readonly insisted = new Set<string>();
  verdicts = 0;
  private readonly resolve: typeof resolveReview;

  constructor(private readonly parts: OperatorParts) {
    this.resolve = parts.resolve ?? resolveReview;
  }

  /** All that the list shows, and in which way it is not what the gauge says. */
  async list(process: ServiceProcess): Promise<{ readonly cases: ReviewCase[]; readonly wrong: string[] }> {
    const { payments } = this.parts;
    const reviews = new ReviewOperations(process.locks, { ...process.context, payments });
    const cases: ReviewCase[] = [];
    let cursor: string | null | undefined;
    do {
      const page = await reviews.list({ limit: 20, ...(typeof cursor === "string" ? { cursor } : {}) });
      cases.push(...page.data);
      cursor = page.nextCursor;
    } while (cursor !== null);
    const counted = await payments.countInReview();
    const wrong =
      counted === cases.length ? [] : [`${counted} operations are in review, the list shows ${cases.length}`];
    return { cases, wrong };
  }

  /** What somebody who knows the books says; null while they show nothing for certain. */
  async rightVerdict(operation: Operation, isLast: boolean): Promise<Verdict | null> {
    const state = await this.parts.gateway.state(operation.paymentId, gatewayKey(operation));
    if (state?.is === "recorded") return movedBy(state) ? "moved" : "not_moved";
    if (state?.is === "deciding" || state?.is === "refusing") return "pending";
    return state?.is === "broken" || isLast ? "not_moved" : null;
  }

  async decide(process: ServiceProcess, operation: Operation, outcome: Verdict, insist: boolean) {
    const { gateway } = this.parts;
    const key = gatewayKey(operation);
    const state = await gateway.state(operation.paymentId, key);
    const verdict: ReviewVerdict = {
      outcome,
      evidence: `the gateway's books: ${state?.is ?? "nothing"}`,
      gatewayReference:
        outcome === "moved" && state?.is === "recorded" && state.answer.outcome === "succeeded"
          ? state.answer.reference
          : outcome === "moved" && operation.kind === "authorize"
            ? `mistaken_${operation.id}`
            : null,
      ...(insist ? { overrideReason: REASON } : {}),
    };
    // Before, because whoever is told may be gone by then.
    if (insist) this.insisted.add(operation.id);
    await this.resolve(process, operation.id, verdict);
    this.verdicts += 1;
  }

  /** The end of it: by what is so, or else by whatever is accepted. Resolves with why nothing was. */
  async bringToAnEnd(process: ServiceProcess, operation: Operation): Promise<string[]> {
    const right = (await this.rightVerdict(operation, true)) ?? "not_moved";
    const refusals: string[] = [];
    for (const [outcome, insist] of [
      [right, false],
      [right, true],
      ["not_moved", true],
      ["moved", true],
    ] as const) {
      try {
        await this.decide(process, operation, outcome, insist);
        return [];
      } catch (error) {
        if (!(error instanceof PaymentError)) throw error;
        if (error.code === "operation_not_in_review" || error.code === "operation_not_found") return [];
        refusals.push(`${outcome}: ${error.code}`);
      }
    }
    return refusals;
  }
}

function movedBy(state: LedgerState): boolean {
  return state.is === "recorded" && state.answer.outcome === "succeeded";
}
