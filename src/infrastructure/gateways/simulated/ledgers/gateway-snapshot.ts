import { z } from "zod";

import type { Currency } from "../../../../domain/money";
import type { GatewayMove, LedgerAuthorization, LedgerEntry } from "./gateway-ledger";

/** Everything a ledger holds. */
export interface LedgerContent {
  readonly entries: readonly LedgerEntry[];
  readonly authorizations: readonly LedgerAuthorization[];
  readonly moves: readonly GatewayMove[];
}

const instant = z.codec(z.iso.datetime(), z.date(), {
  decode: (text) => new Date(text),
  encode: (date) => date.toISOString(),
});
const minorUnits = z.codec(z.string().regex(/^\d{1,30}$/), z.bigint(), {
  decode: (text) => BigInt(text),
  encode: (amount) => amount.toString(),
});
/** Also one that has been withdrawn since. */
const currency = z.codec(z.string().regex(/^[A-Z]{3}$/), z.custom<Currency>(), {
  decode: (code) => code as Currency,
  encode: (code) => code,
});
const amount = z.object({ amount: minorUnits, currency });
const kind = z.enum(["authorize", "capture", "void", "refund"]);
export const recordedAnswerSchema = z.discriminatedUnion("outcome", [
  z.object({ outcome: z.literal("succeeded"), reference: z.string() }),
  z.object({ outcome: z.literal("declined"), reason: z.string() }),
  z.object({ outcome: z.literal("authorization_gone"), reason: z.string() }),
  z.object({
    outcome: z.literal("mismatch"),
    evidence: z.string(),
    reference: z.string(),
    // The only thing that never fits here; rows of before do not say it.
    captured: z.literal(true).default(true),
  }),
]);

export const customerPageSchema = z.object({ returnUrl: z.string(), secret: z.string() });

const snapshotSchema = z.object({
  format: z.literal(1),
  entries: z.array(
    z.object({
      gatewayKey: z.string(),
      operationId: z.string(),
      paymentId: z.string(),
      kind,
      amount,
      authorizationReference: z.string().nullable(),
      paymentMethod: z.string().nullable(),
      // Snapshots from before there were pages have none.
      customerPage: customerPageSchema.nullable().default(null),
      state: z.discriminatedUnion("is", [
        z.object({ is: z.literal("lost") }),
        z.object({ is: z.literal("in_flight"), dueAt: instant }),
        z.object({ is: z.literal("deciding"), dueAt: instant }),
        z.object({ is: z.literal("refusing"), dueAt: instant }),
        z.object({ is: z.literal("awaiting_customer") }),
        z.object({ is: z.literal("broken") }),
        z.object({ is: z.literal("recorded"), answer: recordedAnswerSchema }),
        z.object({ is: z.literal("failing"), answer: recordedAnswerSchema, dueAt: instant }),
      ]),
    }),
  ),
  authorizations: z.array(
    z.object({
      reference: z.string(),
      paymentId: z.string().nullable(),
      amount,
      paymentMethod: z.string(),
      status: z.enum(["awaiting_customer", "open", "captured", "voided", "gone"]),
      reserved: minorUnits,
      captured: minorUnits,
      refunded: minorUnits,
    }),
  ),
  moves: z.array(z.object({ paymentId: z.string(), kind, gatewayKey: z.string(), amount, at: instant })),
});

/** JSON: amounts are strings of digits, instants are ISO 8601. */
export type GatewaySnapshot = z.input<typeof snapshotSchema>;

export function snapshotOf({ entries, authorizations, moves }: LedgerContent): GatewaySnapshot {
  return z.encode(snapshotSchema, {
    format: 1,
    entries: [...entries],
    authorizations: [...authorizations],
    moves: [...moves],
  });
}

/** Throws, naming the field, on anything that is not a snapshot of this format. */
export function restoreSnapshot(snapshot: unknown): LedgerContent {
  const parsed = snapshotSchema.safeParse(snapshot);
  if (!parsed.success) {
    throw new Error(`not a snapshot of the simulated gateway: ${z.prettifyError(parsed.error)}`);
  }
  return parsed.data;
}
