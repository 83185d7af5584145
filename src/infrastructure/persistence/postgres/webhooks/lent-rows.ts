import { sql, type RawBuilder } from "kysely";
import type { ClaimedDelivery } from "../../../../application/ports/events/webhook-delivery-queue";
import {
  endpointColumns,
  newDeliveryColumns,
  toEndpoint,
  toNewDelivery,
  type EndpointRow,
  type NewDeliveryRow,
} from "../../webhooks/webhook-rows";
import { names } from "../../webhooks/webhook-statements";

/** A delivery that is lent, with the columns of its endpoint beside it. */
export type LentRow = NewDeliveryRow & { readonly attempts: bigint } & {
  readonly [Column in keyof EndpointRow as `e_${Column}`]: EndpointRow[Column];
};

/** Of a delivery `d` and an endpoint `e`. */
export const lentColumns: RawBuilder<unknown> = sql`${names([...newDeliveryColumns, "attempts"], "d")}, ${sql.join(
  endpointColumns.map((column) => sql`${sql.ref(`e.${column}`)} AS ${sql.ref(`e_${column}`)}`),
)}`;

export function toClaimed(row: LentRow): ClaimedDelivery {
  const endpoint = Object.fromEntries(
    endpointColumns.map((column) => [column, row[`e_${column}`]]),
  ) as unknown as EndpointRow;
  return { ...toNewDelivery(row), attempts: Number(row.attempts), endpoint: toEndpoint(endpoint) };
}
