import { randomBytes, timingSafeEqual } from "node:crypto";
import type {
  CustomerDecision,
  CustomerPage,
  CustomerPages,
} from "../../../application/ports/customer/customer-pages";
import type { ActionRequired, GatewayAnswer } from "../../../application/ports/payment-gateway";
import { AUTHENTICATION_REQUIRED } from "../../../domain/payment/customer/customer-action";
import type { GatewayTables, LedgerCustomerPage, LedgerEntry, LedgerRequest } from "./ledgers/gateway-ledger";
import { moveMoney, record } from "./move-money";

const DECLINED_BY_CUSTOMER = "declined_by_customer";

/** A page that moves money without a key is for this machine, and for sandboxes. */
const NO_PAGES = "customer_page_on_loopback_only";

/** The pages of all payments, over whatever lends the tables of one. */
export function pagesOver(
  upToDate: <T>(paymentId: string, work: (tables: GatewayTables) => Promise<T>) => Promise<T>,
  now: () => Date,
): CustomerPages {
  return {
    show: (paymentId, secret) => upToDate(paymentId, (tables) => showPage(tables, paymentId, secret)),
    decide: (paymentId, secret, decision) =>
      upToDate(paymentId, (tables) => decide(tables, { paymentId, secret, decision }, now())),
  };
}

export function newCustomerPage(returnUrl: string | undefined): LedgerCustomerPage | null {
  return returnUrl === undefined ? null : { returnUrl, secret: randomBytes(16).toString("base64url") };
}

/** Nothing is reserved yet. What it is called stays the same when the customer has confirmed. */
export async function sendCustomer(
  tables: GatewayTables,
  request: LedgerRequest,
  hasCustomerPages: boolean,
): Promise<GatewayAnswer> {
  const reason = hasCustomerPages ? AUTHENTICATION_REQUIRED : NO_PAGES;
  if (request.customerPage === null || !hasCustomerPages) {
    return record(tables, request, { outcome: "declined", reason });
  }
  const entry: LedgerEntry = { ...request, state: { is: "awaiting_customer" } };
  await tables.putAuthorization({
    reference: referenceOf(entry),
    paymentId: entry.paymentId,
    amount: entry.amount,
    paymentMethod: entry.paymentMethod ?? "",
    status: "awaiting_customer",
    reserved: 0n,
    captured: 0n,
    refunded: 0n,
  });
  await tables.putEntry(entry);
  return actionOf(entry);
}

/** Where the customer acts, below wherever the server has the pages of this gateway. */
export function actionOf(entry: LedgerEntry): ActionRequired {
  const secret = entry.customerPage?.secret ?? "";
  const url = `/payments/${entry.paymentId}?secret=${secret}`;
  return { outcome: "requires_action", reference: referenceOf(entry), url };
}

async function showPage(
  tables: GatewayTables,
  paymentId: string,
  secret: string,
): Promise<CustomerPage | null> {
  const entry = await pageEntry(tables, paymentId, secret);
  return entry === null ? null : pageOf(tables, entry);
}

/** Once: what has been decided, or was let go meanwhile, stays so. */
async function decide(
  tables: GatewayTables,
  { paymentId, secret, decision }: { paymentId: string; secret: string; decision: CustomerDecision },
  now: Date,
): Promise<CustomerPage | null> {
  const entry = await pageEntry(tables, paymentId, secret);
  if (entry?.state.is !== "awaiting_customer") return entry === null ? null : pageOf(tables, entry);
  if (decision === "confirm") await moveMoney(tables, entry, now);
  else await declined(tables, entry);
  return showPage(tables, paymentId, secret);
}

async function declined(tables: GatewayTables, entry: LedgerEntry): Promise<void> {
  const authorization = await tables.authorization(referenceOf(entry));
  if (authorization !== null) await tables.putAuthorization({ ...authorization, status: "gone" });
  await record(tables, entry, { outcome: "declined", reason: DECLINED_BY_CUSTOMER });
}

async function pageOf(tables: GatewayTables, entry: LedgerEntry): Promise<CustomerPage | null> {
  const { customerPage, state } = entry;
  if (customerPage === null) return null;
  const { returnUrl } = customerPage;
  if (state.is === "awaiting_customer") return { state: "waiting", returnUrl };
  const outcome = "answer" in state ? state.answer.outcome : null;
  if (outcome === "succeeded") {
    const isLetGo = await wasLetGo(tables, entry);
    return { state: isLetGo ? "ended" : "confirmed", returnUrl };
  }
  return { state: outcome === "declined" ? "declined" : "ended", returnUrl };
}

/** After the customer had confirmed: nothing is reserved any more, and nothing was taken. */
async function wasLetGo(tables: GatewayTables, entry: LedgerEntry): Promise<boolean> {
  const authorization = await tables.authorization(referenceOf(entry));
  return authorization?.status === "voided" || authorization?.status === "gone";
}

async function pageEntry(
  tables: GatewayTables,
  paymentId: string,
  secret: string,
): Promise<LedgerEntry | null> {
  const entries = await tables.entries(paymentId);
  return entries.find(({ customerPage }) => isSame(customerPage?.secret, secret)) ?? null;
}

/** In a time that says nothing of how much of it was right. */
function isSame(known: string | undefined, given: string): boolean {
  if (known === undefined) return false;
  const [one, other] = [Buffer.from(known), Buffer.from(given)];
  return one.length === other.length && timingSafeEqual(one, other);
}

function referenceOf({ gatewayKey }: LedgerRequest): string {
  return `auth_${gatewayKey}`;
}
