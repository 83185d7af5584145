/** An event as it is shown; whoever may not see all of it was given less. */
export interface ShownEvent {
  readonly id: string;
  readonly type: string;
  readonly at: string;
  readonly data: Readonly<Record<string, unknown>>;
}

const steps: Readonly<Record<string, string>> = {
  started: "Written down, then sent",
  succeeded: "Succeeded",
  failed: "Failed",
  unknown: "No answer: the outcome is unknown",
  pending: "Taken by the gateway, which decides later",
  not_sent: "Certainly not sent",
  resent: "Sent again, with the same key",
  requires_action: "The customer has to act",
};

const others: Readonly<Record<string, string>> = {
  "operation.needs_review": "Needs a person",
  "operation.evidence_conflict": "Two answers contradict each other",
  "review.resolved": "Decided in review",
  "review.pending": "Looked at in review: not decided at the gateway either",
  "payment.authorized": "The payment is authorized",
  "payment.captured": "The payment is captured",
  "payment.voided": "The payment is voided",
  "payment.declined": "The payment is declined",
  "payment.expired": "The authorization has ended",
  "payment.expiry_shortened": "The authorization ends earlier than asked for",
  "dispute.opened": "A dispute was opened",
  "dispute.updated": "A dispute goes on",
  "dispute.closed": "A dispute was closed",
};

const LOUD = /\.(?:failed|unknown)$|^operation\.|^dispute\.opened$|^payment\.declined$/;

export function eventTitle({ type }: ShownEvent): string {
  return others[type] ?? steps[type.split(".")[1] ?? ""] ?? type;
}

export function isLoud({ type }: ShownEvent): boolean {
  return LOUD.test(type);
}

/** Who asked, how long the lock was waited for, what the gateway said: line by line. */
export function eventDetails({ type, data }: ShownEvent): readonly string[] {
  const { by, lock, gateway, reason, evidence } = data;
  // What made the payment so is told by the operation.
  if (type.startsWith("payment.")) return [];
  const lines = [whoAsked(record(by)), waitOf(record(lock)), gatewaySaid(record(gateway))];
  if (typeof reason === "string") lines.push(reason);
  if (typeof evidence === "string") lines.push(`Evidence: ${evidence}`);
  return lines.filter((line) => line !== null);
}

function whoAsked(by: Readonly<Record<string, unknown>> | null): string | null {
  if (by === null) return null;
  const { apiKey, operator, customer, requestId, ...rest } = by;
  if (customer === true) return "asked by the customer's browser";
  const who =
    typeof apiKey === "string"
      ? `asked with key ${apiKey}${operator === true ? " (operator)" : ""}`
      : operator === true
        ? "asked by an operator"
        : "apiKey" in by
          ? "asked without a key, on this machine"
          : `by ${inWords(rest)}`;
  return typeof requestId === "string" ? `${who}, request ${requestId}` : who;
}

function waitOf(lock: Readonly<Record<string, unknown>> | null): string | null {
  if (lock === null || typeof lock["waitedMs"] !== "number" || lock["waitedMs"] < 1) return null;
  const whom = typeof lock["waitedFor"] === "string" ? ` for ${lock["waitedFor"]}` : "";
  return `waited ${Math.round(lock["waitedMs"])} ms for the lock${whom}`;
}

function gatewaySaid(gateway: Readonly<Record<string, unknown>> | null): string | null {
  if (gateway === null) return null;
  const { asked: what, answer, key: _, ...rest } = gateway;
  const asked = typeof what === "string" ? what : undefined;
  if (typeof answer !== "string") return null;
  const question =
    asked === "find" ? "asked what became of it" : asked === undefined ? "asked" : `sent the ${asked}`;
  const said = Object.keys(rest).length === 0 ? "" : ` (${inWords(rest)})`;
  return `gateway: ${question}, answered ${answer}${said}`;
}

function inWords(values: Readonly<Record<string, unknown>>): string {
  return Object.entries(values)
    .map(([name, value]) =>
      value === true ? name : `${name} ${typeof value === "string" ? value : JSON.stringify(value)}`,
    )
    .join(", ");
}

function record(value: unknown): Readonly<Record<string, unknown>> | null {
  return typeof value === "object" && value !== null ? (value as Readonly<Record<string, unknown>>) : null;
}
