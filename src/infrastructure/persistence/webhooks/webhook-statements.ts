import { sql, type RawBuilder } from "kysely";
import { QUIET_MS } from "../../../domain/webhooks/webhook-endpoint";
import type { Settlement } from "../../../application/ports/events/webhook-delivery-queue";
import { toMs } from "../sql/payment-rows";
import { lineOf } from "./webhook-rows";

export const names = (columns: readonly string[], table?: string): RawBuilder<unknown> =>
  sql.join(columns.map((column) => sql.ref(table === undefined ? column : `${table}.${column}`)));

/** Each endpoint that anything is pending for, found by as many looks into the index as there are of them. */
export const waitingEndpoints = sql`waiting(endpoint_id) AS (
    SELECT min(endpoint_id) FROM webhook_deliveries WHERE due_at IS NOT NULL
    UNION ALL
    SELECT (SELECT min(endpoint_id) FROM webhook_deliveries
        WHERE due_at IS NOT NULL AND endpoint_id > waiting.endpoint_id)
      FROM waiting WHERE waiting.endpoint_id IS NOT NULL
  )`;

/** Whether \`d\` is the first of its line. */
export const isFirstInLine = sql`NOT EXISTS (SELECT 1 FROM webhook_deliveries b
    WHERE b.line = d.line AND b.due_at IS NOT NULL AND b.position < d.position)`;

/** A settlement as values of statements. */
export interface SettlementArgs {
  readonly id: string;
  readonly endpoint: string;
  readonly line: string;
  readonly status: string;
  readonly due: bigint | null;
  readonly settled: bigint | null;
  readonly at: bigint;
  readonly answeredWith: bigint | null;
  readonly failure: string | null;
  readonly answer: string;
  readonly took: bigint;
  readonly isSettled: bigint;
  /** From when on those behind it are worth a look. */
  readonly lineDue: bigint;
  /** An endpoint that failed last before this begins to fail anew. */
  readonly quietBefore: bigint;
  readonly reason: string | null;
  readonly ifFailingSince: bigint | null;
  readonly eventId: string | null;
  readonly merchant: string | null;
  readonly eventType: string | null;
  readonly eventAt: bigint | null;
  readonly eventContent: string | null;
}

export function settlementArgs(settlement: Settlement): SettlementArgs {
  const { deliveryId, endpointId, attempt, next, disable } = settlement;
  const isSettled = typeof next === "string";
  const failingSince = disable?.ifFailingSince ?? null;
  const at = toMs(attempt.at);
  return {
    id: deliveryId,
    endpoint: endpointId,
    line: lineOf(settlement),
    status: isSettled ? next : "pending",
    due: isSettled ? null : toMs(next),
    settled: isSettled ? at : null,
    at,
    answeredWith: attempt.status === null ? null : BigInt(attempt.status),
    failure: attempt.failure,
    answer: attempt.answer,
    took: BigInt(attempt.tookMs),
    isSettled: isSettled ? 1n : 0n,
    lineDue: isSettled ? at : toMs(next),
    quietBefore: at - BigInt(QUIET_MS),
    reason: disable?.reason ?? null,
    ifFailingSince: failingSince === null ? null : toMs(failingSince),
    eventId: disable?.event.id ?? null,
    merchant: disable?.event.merchant ?? null,
    eventType: disable?.event.type ?? null,
    eventAt: disable === null ? null : toMs(disable.event.at),
    eventContent: disable === null ? null : JSON.stringify(disable.event.content),
  };
}

export type SettlementArg = <Name extends keyof SettlementArgs>(name: Name) => SettlementArgs[Name];

/** Of the delivery itself. */
export const settledColumns = (arg: SettlementArg) => sql`
  status = ${arg("status")}, attempts = attempts + 1, due_at = ${arg("due")}, settled_at = ${arg("settled")},
  attempted_at = ${arg("at")}, attempt_status = ${arg("answeredWith")}, attempt_failure = ${arg("failure")},
  attempt_answer = ${arg("answer")}, attempt_ms = ${arg("took")}, claimed_by = NULL, claimed_until = 0`;
