import type { ClaimedDelivery } from "../../../application/ports/events/webhook-store";
import { endpointColumns, toEndpoint, toNewDelivery, type NewDeliveryRow } from "./webhook-rows";
import type { WebhookEndpointRow } from "./webhook-tables";

type EndpointRow = Pick<WebhookEndpointRow, (typeof endpointColumns)[number]>;

/** A delivery that is lent, with the columns of its endpoint beside it. */
export type LentRow = NewDeliveryRow & { readonly attempts: bigint } & {
  readonly [Column in keyof EndpointRow as `e_${Column}`]: EndpointRow[Column];
};

export function toClaimed(row: LentRow): ClaimedDelivery {
  const endpoint = Object.fromEntries(
    endpointColumns.map((column) => [column, row[`e_${column}`]]),
  ) as EndpointRow;
  return { ...toNewDelivery(row), attempts: Number(row.attempts), endpoint: toEndpoint(endpoint) };
}
