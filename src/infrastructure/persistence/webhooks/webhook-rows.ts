import type {
  DeliveryStatus,
  WebhookDelivery,
} from "../../../application/ports/events/webhook-delivery-store";
import type { EndpointChange } from "../../../application/ports/events/webhook-endpoint-store";
import type { NewDelivery } from "../../../application/ports/events/webhook-fan-out-store";
import type { AttemptFailure } from "../../../application/ports/events/webhook-sender";
import type { MerchantId } from "../../../domain/identifiers";
import type {
  DisabledReason,
  Failing,
  WebhookDeliveryId,
  WebhookEndpoint,
  WebhookEndpointId,
} from "../../../domain/webhooks/webhook-endpoint";
import { toDate, toDateOrNull, toMs } from "../sql/payment-rows";
import type { WebhookDeliveryRow, WebhookEndpointRow } from "./webhook-tables";

export type EndpointRow = Omit<WebhookEndpointRow, "starts_after" | "deleted_at">;

export const endpointColumns = [
  "id",
  "merchant_id",
  "url",
  "types",
  "description",
  "ordered",
  "secret",
  "previous_secret",
  "previous_until",
  "created_at",
  "updated_at",
  "disabled_at",
  "disabled_reason",
  "failing_since",
  "failed_at",
] as const satisfies readonly (keyof EndpointRow)[];

export const newDeliveryColumns = [
  "id",
  "endpoint_id",
  "event_id",
  "event_type",
  "event_at",
  "line",
  "position",
  "body",
  "created_at",
] as const satisfies readonly (keyof WebhookDeliveryRow)[];

export type NewDeliveryRow = Pick<WebhookDeliveryRow, (typeof newDeliveryColumns)[number]>;

export const deliveryColumns = [
  ...newDeliveryColumns,
  "status",
  "attempts",
  "due_at",
  "settled_at",
  "attempted_at",
  "attempt_status",
  "attempt_failure",
  "attempt_answer",
  "attempt_ms",
] as const satisfies readonly (keyof WebhookDeliveryRow)[];

export type DeliveryRow = Pick<WebhookDeliveryRow, (typeof deliveryColumns)[number]>;

export function toEndpoint(row: EndpointRow): WebhookEndpoint {
  const { previous_secret: previous, previous_until: until, disabled_at: disabledAt } = row;
  return {
    id: row.id as WebhookEndpointId,
    merchant: row.merchant_id as MerchantId,
    url: row.url,
    types: row.types === null ? null : (JSON.parse(row.types) as string[]),
    description: row.description,
    ordered: row.ordered === 1n,
    secrets: {
      current: row.secret,
      previous: previous === null || until === null ? null : { sealed: previous, until: toDate(until) },
    },
    createdAt: toDate(row.created_at),
    updatedAt: toDate(row.updated_at),
    disabled:
      disabledAt === null ? null : { at: toDate(disabledAt), reason: row.disabled_reason as DisabledReason },
    failing: toFailing(row),
  };
}

function toFailing({ failing_since: since, failed_at: last }: EndpointRow): Failing | null {
  return since === null || last === null ? null : { since: toDate(since), last: toDate(last) };
}

export function endpointRow(endpoint: WebhookEndpoint): EndpointRow {
  const { id, merchant, createdAt, updatedAt, failing } = endpoint;
  return {
    id,
    merchant_id: merchant,
    created_at: toMs(createdAt),
    failing_since: failing === null ? null : toMs(failing.since),
    failed_at: failing === null ? null : toMs(failing.last),
    ...(changedColumns({ ...endpoint, updatedAt }) as Pick<
      EndpointRow,
      | "url"
      | "types"
      | "description"
      | "ordered"
      | "secret"
      | "previous_secret"
      | "previous_until"
      | "disabled_at"
      | "disabled_reason"
      | "updated_at"
    >),
  };
}

/** Only what is to be changed. Who is enabled again begins without a past. */
export function changedColumns(change: EndpointChange): Partial<EndpointRow> {
  const { url, types, description, ordered, secrets, disabled, updatedAt } = change;
  return {
    updated_at: toMs(updatedAt),
    ...(url === undefined ? {} : { url }),
    ...(types === undefined ? {} : { types: types === null ? null : JSON.stringify(types) }),
    ...(description === undefined ? {} : { description }),
    ...(ordered === undefined ? {} : { ordered: ordered ? 1n : 0n }),
    ...(secrets === undefined
      ? {}
      : {
          secret: secrets.current,
          previous_secret: secrets.previous?.sealed ?? null,
          previous_until: secrets.previous === null ? null : toMs(secrets.previous.until),
        }),
    ...(disabled === undefined
      ? {}
      : {
          disabled_at: disabled === null ? null : toMs(disabled.at),
          disabled_reason: disabled?.reason ?? null,
          ...(disabled === null ? { failing_since: null, failed_at: null } : {}),
        }),
  };
}

export function lineOf({ endpointId, line }: Pick<NewDelivery, "endpointId" | "line">): string {
  return `${endpointId} ${line}`;
}

export function newDeliveryRow(delivery: NewDelivery): NewDeliveryRow {
  return {
    id: delivery.id,
    endpoint_id: delivery.endpointId,
    event_id: delivery.eventId,
    event_type: delivery.eventType,
    event_at: toMs(delivery.eventAt),
    line: lineOf(delivery),
    position: BigInt(delivery.position),
    body: delivery.body,
    created_at: toMs(delivery.createdAt),
  };
}

export function toNewDelivery(row: NewDeliveryRow): NewDelivery {
  return {
    id: row.id as WebhookDeliveryId,
    endpointId: row.endpoint_id as WebhookEndpointId,
    eventId: row.event_id,
    eventType: row.event_type,
    eventAt: toDate(row.event_at),
    line: row.line.slice(row.endpoint_id.length + 1),
    position: Number(row.position),
    body: row.body,
    createdAt: toDate(row.created_at),
  };
}

export function toDelivery(row: DeliveryRow): WebhookDelivery {
  const { line: _line, position: _position, ...shown } = toNewDelivery(row);
  const { attempted_at: at, attempt_status: status } = row;
  return {
    ...shown,
    status: row.status as DeliveryStatus,
    attempts: Number(row.attempts),
    dueAt: toDateOrNull(row.due_at),
    settledAt: toDateOrNull(row.settled_at),
    lastAttempt:
      at === null
        ? null
        : {
            at: toDate(at),
            status: status === null ? null : Number(status),
            failure: row.attempt_failure as AttemptFailure | null,
            answer: row.attempt_answer ?? "",
            tookMs: Number(row.attempt_ms ?? 0n),
          },
  };
}
