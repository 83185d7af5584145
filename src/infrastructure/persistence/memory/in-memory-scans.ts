import type { PaymentQuery, ReviewItem, Unsettled } from "../../../application/ports/payment-repository";
import type { Operation } from "../../../domain/payment/operation";
import { visibleStatus, type Payment } from "../../../domain/payment/payment";
import { toMs } from "../sql/payment-rows";
import { isAfter, type Position } from "../sql/cursor";

/** What SQL stores answer by an index, found by looking at everything. */
export function toLookAt(
  payments: readonly Payment[],
  isMeant: (operation: Operation) => boolean,
): readonly { readonly item: ReviewItem; readonly position: Position }[] {
  return payments
    .flatMap(({ facts }) =>
      facts.operations.filter(isMeant).map(({ id, kind, amount, createdAt }) => ({
        item: {
          paymentId: facts.id,
          merchant: facts.merchant,
          operationId: id,
          kind,
          amount,
          currency: facts.amount.currency,
          createdAt,
        },
        position: { atMs: toMs(createdAt), id },
      })),
    )
    .sort((a, b) => (isAfter(a.position, b.position) ? 1 : -1));
}

export function unsettledOf(operations: readonly Operation[]): Unsettled {
  const unknown = operations.filter(({ status }) => status === "started" || status === "unknown");
  const began = unknown.filter(({ n }) => n === 1).map(({ createdAt }) => createdAt.getTime());
  return {
    oldestUnknownAt: began.length === 0 ? null : new Date(Math.min(...began)),
    refusedReleases: unknown.filter(({ n }) => n > 1).length,
  };
}

export function matches(payment: Payment, query: PaymentQuery): boolean {
  const { facts } = payment;
  return (
    (query.merchant === null || facts.merchant === query.merchant) &&
    (query.status === undefined || visibleStatus(payment) === query.status) &&
    (query.reference === undefined || facts.reference === query.reference) &&
    (query.amount === undefined ||
      (facts.amount.amount === query.amount.amount && facts.amount.currency === query.amount.currency)) &&
    (query.createdFrom === undefined || facts.createdAt >= query.createdFrom) &&
    (query.createdTo === undefined || facts.createdAt < query.createdTo)
  );
}
