import type { OperationKind } from "../../../domain/payment/operation";
import { isElsewhere } from "./keys-of-others";
import type {
  GatewayTables,
  LedgerAnswer,
  LedgerAuthorization,
  LedgerEntry,
  LedgerRequest,
} from "./ledgers/gateway-ledger";

/**
 * Carries a request out and records the answer for its key. Naive on purpose: it looks at this one request and at
 * whether the authorization is still there, never at what other keys of ours have moved. A caller who sends two keys for one
 * capture moves the money twice, and `moves` shows it.
 */
export async function moveMoney(
  tables: GatewayTables,
  request: LedgerRequest,
  at: Date,
): Promise<LedgerAnswer> {
  const answer = await carryOut(tables, request);
  if (answer.outcome === "succeeded") {
    const { paymentId, kind, gatewayKey, amount } = request;
    await tables.appendMove({ paymentId, kind, gatewayKey, amount, at });
  }
  await record(tables, request, answer);
  return answer;
}

/** Why the gateway refuses what it had taken, or even carried out, before. */
export function failedLater(kind: OperationKind): string {
  return `${kind}_failed`;
}

/** What the gateway calls that which came by this key. */
export function referenceOf(kind: OperationKind, gatewayKey: string): string {
  return `${kind === "authorize" ? "auth" : kind}_${gatewayKey}`;
}

/** What an entry comes to when its time has come. */
export async function carryOutDue(tables: GatewayTables, entry: LedgerEntry): Promise<void> {
  if (entry.state.is === "failing") await failRefund(tables, entry);
  else if (entry.state.is === "refusing") await record(tables, entry, declined(failedLater(entry.kind)));
  else if ("dueAt" in entry.state) await moveMoney(tables, entry, entry.state.dueAt);
}

/** The money is back with the merchant. That it was given back once stays in the list of what moved. */
async function failRefund(tables: GatewayTables, entry: LedgerEntry): Promise<void> {
  const { authorizationReference: reference, amount } = entry;
  const authorization = reference === null ? null : await tables.authorization(reference);
  if (authorization !== null) {
    const refunded = authorization.refunded - amount.amount;
    await tables.putAuthorization({ ...authorization, refunded });
  }
  await record(tables, entry, declined(failedLater(entry.kind)));
}

/** Binds an answer to the key without moving anything. */
export async function record(
  tables: GatewayTables,
  request: LedgerRequest,
  answer: LedgerAnswer,
): Promise<LedgerAnswer> {
  const entry: LedgerEntry = { ...request, state: { is: "recorded", answer } };
  await tables.putEntry(entry);
  return answer;
}

async function carryOut(tables: GatewayTables, request: LedgerRequest): Promise<LedgerAnswer> {
  if (request.kind === "authorize") return authorize(tables, request);
  const authorization =
    request.authorizationReference === null
      ? null
      : await tables.authorization(request.authorizationReference);
  if (authorization === null) return gone("no such authorization");
  if (request.amount.currency !== authorization.amount.currency) return declined("currency_mismatch");
  if (request.amount.amount > authorization.amount.amount) return declined("amount_too_large");
  switch (request.kind) {
    case "capture":
      return capture(tables, request, authorization);
    case "void":
      return release(tables, request, authorization);
    case "refund":
      return refund(tables, request, authorization);
  }
}

async function authorize(tables: GatewayTables, request: LedgerRequest): Promise<LedgerAnswer> {
  const reference = referenceOf("authorize", request.gatewayKey);
  await tables.putAuthorization({
    reference,
    paymentId: request.paymentId,
    amount: request.amount,
    paymentMethod: request.paymentMethod ?? "",
    status: "open",
    reserved: request.amount.amount,
    captured: 0n,
    refunded: 0n,
  });
  return { outcome: "succeeded", reference };
}

async function capture(
  tables: GatewayTables,
  request: LedgerRequest,
  authorization: LedgerAuthorization,
): Promise<LedgerAnswer> {
  if (authorization.status === "awaiting_customer") return declined("requires_action");
  if (authorization.status === "voided") return gone("voided");
  if (authorization.status === "gone") return gone("expired");
  if (authorization.status === "captured") {
    // What somebody does in the dashboard, they see: nobody captures there what is captured already.
    if (isElsewhere(request.gatewayKey)) return declined("already_captured");
    if (await wasDoneElsewhere(tables, request)) {
      return mismatch(authorization, "captured elsewhere, under no key of ours");
    }
  }
  await tables.putAuthorization({
    ...authorization,
    status: "captured",
    // A capture of a part lets go of the rest.
    reserved: 0n,
    captured: authorization.captured + request.amount.amount,
  });
  return { outcome: "succeeded", reference: referenceOf("capture", request.gatewayKey) };
}

async function release(
  tables: GatewayTables,
  request: LedgerRequest,
  authorization: LedgerAuthorization,
): Promise<LedgerAnswer> {
  switch (authorization.status) {
    case "voided":
      return gone("voided");
    case "gone":
      return gone("expired");
    case "captured":
      return mismatch(authorization, "captured, while it was to be voided");
    case "awaiting_customer":
      await endWait(tables, authorization);
      return { outcome: "succeeded", reference: `void_${request.gatewayKey}` };
    case "open":
      await tables.putAuthorization({ ...authorization, status: "voided", reserved: 0n });
      return { outcome: "succeeded", reference: referenceOf("void", request.gatewayKey) };
  }
}

/** The customer who comes now finds it ended. */
async function endWait(tables: GatewayTables, authorization: LedgerAuthorization): Promise<void> {
  await tables.putAuthorization({ ...authorization, status: "voided" });
  const entries = await tables.entries(authorization.paymentId ?? "");
  const awaiting = entries.find(({ state }) => state.is === "awaiting_customer");
  if (awaiting !== undefined) await record(tables, awaiting, gone("voided"));
}

async function refund(
  tables: GatewayTables,
  request: LedgerRequest,
  authorization: LedgerAuthorization,
): Promise<LedgerAnswer> {
  if (authorization.captured === 0n) return declined("not_captured");
  const left = authorization.captured - authorization.refunded;
  if (request.amount.amount > left && (await isWatched(tables, request))) return declined("already_refunded");
  await tables.putAuthorization({
    ...authorization,
    refunded: authorization.refunded + request.amount.amount,
  });
  return { outcome: "succeeded", reference: referenceOf("refund", request.gatewayKey) };
}

/** Whether what is left is looked at: in the dashboard they see it, and what they gave back there is not given twice. */
async function isWatched(tables: GatewayTables, request: LedgerRequest): Promise<boolean> {
  return isElsewhere(request.gatewayKey) || (await wasDoneElsewhere(tables, request));
}

/** In what somebody has done in the dashboard, the gateway is not naive. */
async function wasDoneElsewhere(
  tables: GatewayTables,
  { paymentId, kind: wanted }: LedgerRequest,
): Promise<boolean> {
  const moves = await tables.moves(paymentId);
  return moves.some(({ kind, gatewayKey }) => kind === wanted && isElsewhere(gatewayKey));
}

/** Evidence, and no refusal: whoever wanted the money has to hear that it was taken. */
function mismatch({ reference, captured, amount }: LedgerAuthorization, what: string): LedgerAnswer {
  const evidence = `${reference}: ${captured} ${amount.currency} ${what}`;
  return { outcome: "mismatch", evidence, reference, captured: true };
}

function declined(reason: string): LedgerAnswer {
  return { outcome: "declined", reason };
}

function gone(reason: string): LedgerAnswer {
  return { outcome: "authorization_gone", reason };
}
