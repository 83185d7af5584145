import type { Operation, OperationKind } from "../../domain/payment/operation";
import { gatewayKey } from "../../domain/payment/operation";
import type { Payment } from "../../domain/payment/payment";
import type { GatewayPicture } from "../../domain/payment/picture/gateway-picture";
import type { EventData } from "../../domain/payment/events";
import type { AuthorizationLookup, LookupAnswer } from "../ports/authorization-lookup";
import type { FindAnswer, GatewayAnswer, PaymentGateway, PictureAnswer } from "../ports/payment-gateway";
import { budgets } from "../time-budgets";
import { inTime } from "../in-time";

/** Sends an operation's gateway key. What does not come back in time, or fails in a way the port forbids, is unknown. */
export function send(
  gateway: PaymentGateway,
  payment: Payment,
  operation: Operation,
): Promise<GatewayAnswer> {
  const request = { ...commonRequest(payment, operation), timeoutMs: budgets.sendMs };
  return withinBudget(budgets.sendMs, () => {
    if (operation.kind === "authorize") {
      const { paymentMethod, returnUrl } = payment.facts;
      return gateway.authorize({ ...request, paymentMethod, ...(returnUrl !== null && { returnUrl }) });
    }
    const { authorizationReference } = payment.facts;
    if (authorizationReference === null)
      throw new Error(`payment ${payment.facts.id} was never authorized at the gateway`);
    return gateway[operation.kind]({ ...request, authorizationReference });
  });
}

export function find(gateway: PaymentGateway, payment: Payment, operation: Operation): Promise<FindAnswer> {
  const { authorizationReference } = payment.facts;
  return withinBudget(budgets.findMs, () =>
    gateway.find({
      ...commonRequest(payment, operation),
      kind: operation.kind,
      // Of an authorization that is pending, what the gateway called it then.
      authorizationReference: authorizationReference ?? nameOfAuthorization(operation),
      timeoutMs: budgets.findMs,
    }),
  );
}

function nameOfAuthorization({ kind, gatewayReference }: Operation): string | null {
  return kind === "authorize" ? gatewayReference : null;
}

/** Null where there is none: the gateway draws none, does not answer, or has never told what it calls the authorization. */
export async function askPicture(gateway: PaymentGateway, payment: Payment): Promise<GatewayPicture | null> {
  const answer = await askForPicture(gateway, payment);
  return answer?.outcome === "seen" ? answer.picture : null;
}

/** Null where there is nothing to ask: the gateway draws none, or has never told what it calls the authorization. */
export async function askForPicture(
  gateway: PaymentGateway,
  { facts: { id, amount, authorizationReference, gatewayAccount } }: Payment,
): Promise<PictureAnswer | null> {
  if (gateway.picture === undefined || authorizationReference === null) return null;
  const timeoutMs = budgets.findMs;
  const request = { paymentId: id, amount, authorizationReference, timeoutMs, ...inAccount(gatewayAccount) };
  return withinBudget<PictureAnswer>(
    timeoutMs,
    async () => gateway.picture?.(request) ?? unknown("it draws no pictures"),
  );
}

/** Asks about an authorization that was made elsewhere. Moves nothing. */
export function lookUp(
  gateway: AuthorizationLookup,
  reference: string,
  account: string | null,
): Promise<LookupAnswer> {
  const request = { reference, timeoutMs: budgets.findMs, ...inAccount(account) };
  return withinBudget(request.timeoutMs, () => gateway.lookupAuthorization(request));
}

/** What an event tells about a question to the gateway: under which key it was asked, and in whose words it answered. */
export function gatewayTrace(
  asked: OperationKind | "find",
  operation: Operation,
  answer: GatewayAnswer | FindAnswer,
): EventData {
  const asAnswer = { asked, key: gatewayKey(operation), answer: answer.outcome };
  // Whoever has its address can act in the customer's place: it is in no history.
  if (answer.outcome === "requires_action") return { gateway: { ...asAnswer, reference: answer.reference } };
  const { outcome: _, ...said } = answer;
  const times = Object.entries(said).filter(([, value]) => value instanceof Date);
  return {
    gateway: {
      ...asAnswer,
      ...said,
      ...Object.fromEntries(times.map(([name, at]) => [name, (at as Date).toISOString()])),
    },
  };
}

function commonRequest(payment: Payment, operation: Operation) {
  return {
    gatewayKey: gatewayKey(operation),
    operationId: operation.id,
    paymentId: payment.facts.id,
    amount: { ...payment.facts.amount, amount: operation.amount },
    ...inAccount(payment.facts.gatewayAccount),
  };
}

function inAccount(account: string | null): { readonly account?: string } {
  return account === null ? {} : { account };
}

/** The call itself goes on after its budget: whatever it still does is found out by asking. */
function withinBudget<A>(budgetMs: number, call: () => Promise<A>): Promise<A | Unknown> {
  return inTime(budgetMs, answered(call), () => unknown(`no answer within ${budgetMs} ms`));
}

async function answered<A>(call: () => Promise<A>): Promise<A | Unknown> {
  try {
    return await call();
  } catch (error) {
    return unknown(`the gateway adapter failed: ${String(error)}`);
  }
}

interface Unknown {
  readonly outcome: "unknown";
  readonly reason: string;
}

function unknown(reason: string): Unknown {
  return { outcome: "unknown", reason };
}
