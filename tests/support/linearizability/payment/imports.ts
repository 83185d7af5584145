import type { HttpAnswer, HttpCall } from "../history/http-call";

/** What the gateway holds of an authorization that was made elsewhere. */
export interface Imported {
  readonly amount: number;
  readonly currency: string;
}

/** docs/simulated-gateway.md, "Authorizations made elsewhere". */
const MADE_ELSEWHERE = /^ext_(\d+)_([a-z]{3})_/i;
const REFUSALS = new Set([
  "gateway_unavailable",
  "gateway_access_refused",
  "authorization_not_found",
  "authorization_not_capturable",
  "authorization_already_imported",
]);

/** Null: the request makes an authorization of its own. */
export function importedBy(sent: unknown): Imported | null {
  const [, amount, currency] = MADE_ELSEWHERE.exec(referenceIn(sent) ?? "") ?? [];
  return amount === undefined ? null : { amount: Number(amount), currency: currency!.toUpperCase() };
}

/** What stands for a payment method: how the gateway behaves is in the reference's end. */
export function importedMethod(sent: unknown): string | null {
  const reference = referenceIn(sent);
  return reference === undefined ? null : (/\.(tok_\w+)$/.exec(reference)?.[1] ?? "tok_ok");
}

/** An import is refused without an effect: its key stays free. */
export function isRefusedImport({ body }: HttpAnswer): boolean {
  return REFUSALS.has(body?.code);
}

/** Two payments of one authorization: whoever made it, its money would be captured twice. */
export function importedTwice(history: readonly HttpCall[]): string[] {
  const owners = new Map<string, string>();
  const found: string[] = [];
  for (const { request, answer } of history) {
    const reference = referenceIn(request.body);
    const id: unknown = answer?.body?.payment?.id;
    if (answer?.status !== 201 || reference === undefined || typeof id !== "string") continue;
    const owner = owners.get(reference) ?? id;
    owners.set(reference, owner);
    if (owner !== id) found.push(`${reference} was imported as ${owner}, and as ${id}`);
  }
  return found;
}

function referenceIn(sent: unknown): string | undefined {
  return (sent as { readonly gatewayReference?: string } | null)?.gatewayReference;
}
