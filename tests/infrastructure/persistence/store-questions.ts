import type { PaymentRepository } from "../../../src/application/ports/payment-repository";
import { parseMerchantId, parsePaymentId } from "../../../src/domain/identifiers";
import { after, authorizedPayment, begin, newOperationId, NOON } from "../../support/worlds/payments";

/** One way to ask a store, and the index that must answer it. */
export interface StoreQuestion {
  readonly name: string;
  readonly index: string;
  readonly ask: (store: PaymentRepository) => Promise<unknown>;
}

const merchant = parseMerchantId("acme");
const somebody = parsePaymentId("0190a6b2-7c3d-7e4f-8a5b-6c7d8e9f0a1b");
const due = { paymentId: somebody, operationId: newOperationId(), dueAt: NOON };
/** Not that of the many payments: a plan goes by what is rare. */
const amount = { amount: 77n, currency: "EUR" };
const everything = { createdFrom: NOON, createdTo: after(1), status: "capturing", reference: "order-1" };

function nextPage(query: object): StoreQuestion["ask"] {
  return async (store) => {
    for (let n = 0; n < 2; n += 1) await store.save(authorizedPayment({ reference: "order-1" }), "new");
    const { nextCursor } = await store.list({ merchant, limit: 1 });
    return store.list({ merchant, limit: 20, ...query, cursor: nextCursor! });
  };
}

/** Every question of the port. `primaryKey` is how the engine calls a table's own. */
export function storeQuestions(primaryKey: (table: string) => string): readonly StoreQuestion[] {
  const question = (name: string, index: string, ask: StoreQuestion["ask"]) => ({ name, index, ask });
  return [
    question("find", primaryKey("payments"), (store) => store.find(somebody)),
    question("events", "one_event_per_sequence", (store) => store.events(somebody)),
    question("a page of events", "one_event_per_sequence", (store) =>
      store.eventPage(somebody, { limit: 10 }),
    ),
    question("by operation", primaryKey("operations"), (store) => store.findByOperation(newOperationId())),
    question("by authorization", "one_payment_per_authorization", (store) =>
      store.findByAuthorization("pi_1"),
    ),
    question("by authorize key", "one_payment_per_authorize_key", (store) =>
      store.findByAuthorizeKey(merchant, begin().idempotencyKey),
    ),
    question("due operations", "operations_due", (store) => store.dueOperations(after(1), 10)),
    question("due operations, further on", "operations_due", (store) =>
      store.dueOperations(after(1), 10, due),
    ),
    question("lapsed authorizations", "payments_lapsing", (store) =>
      store.lapsedAuthorizations(after(1), 10),
    ),
    question("reviews", "operations_in_review", (store) => store.operationsInReview({ limit: 10 })),
    question("how many reviews", "operations_in_review", (store) => store.countInReview()),
    question("list", "payments_listed", (store) => store.list({ merchant, limit: 20 })),
    question("list, next page", "payments_listed", nextPage({})),
    question("list by time", "payments_listed", (store) =>
      store.list({ merchant, limit: 20, createdFrom: NOON }),
    ),
    question("list by status", "payments_by_status", nextPage({ status: "captured" })),
    question("list by reference", "payments_by_reference", nextPage({ reference: "order-1" })),
    question("list by everything", "payments_by_reference", nextPage(everything)),
    question("by gateway reference", "operations_by_gateway_reference", (store) =>
      store.findByGatewayReference("re_1", 20),
    ),
    question("unknown operations", "operations_unknown", (store) => store.unknownOperations(null, 5)),
    question("a merchant's unknown operations", "operations_unknown", (store) =>
      store.unknownOperations(merchant, 5),
    ),
    question("list by amount", "payments_by_amount", nextPage({ amount })),
    question("list of all merchants", "payments_of_all", nextPage({ merchant: null })),
    question("list of all merchants by status", "payments_of_all_by_status", (store) =>
      store.list({ merchant: null, limit: 20, status: "expired" }),
    ),
    question(
      "list of all merchants by reference",
      "payments_of_all_by_reference",
      nextPage({ merchant: null, reference: "order-1" }),
    ),
    question(
      "list of all merchants by amount",
      "payments_of_all_by_amount",
      nextPage({ merchant: null, amount }),
    ),
    question("ping", primaryKey("operations"), (store) => store.ping()),
  ];
}
