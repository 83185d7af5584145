import type { GatewayHint } from "../../../src/application/ports/gateway-events/gateway-hint";
import {
  GatewayEventError,
  type GatewayEventList,
  type GatewayEventPage,
  type GatewayEventQuery,
  type SignedGatewayEvents,
} from "../../../src/application/ports/gateway-events/gateway-event-source";
import { parsePaymentId } from "../../../src/domain/identifiers";
import type { LedgerEntry } from "../../../src/infrastructure/gateways/simulated/ledgers/gateway-ledger";
import { InMemoryGatewayLedger } from "../../../src/infrastructure/gateways/simulated/ledgers/in-memory-gateway-ledger";

const SIGNATURE = "of-this-world";
const PAGE = 20;

export interface News {
  readonly at: Date;
  readonly hint: GatewayHint;
}

/** What the gateway has to say by itself: of each entry of its books that changes. */
export class GatewayNews implements GatewayEventList {
  readonly keptForMs = 30 * 86_400_000;
  readonly all: News[] = [];

  /** A ledger that tells of what is written in it. */
  ledger(now: () => Date): InMemoryGatewayLedger {
    const ledger = new InMemoryGatewayLedger();
    const transaction = ledger.transaction.bind(ledger);
    ledger.transaction = (paymentId, work) =>
      transaction(paymentId, (tables) =>
        work({
          ...tables,
          putEntry: (entry) => {
            this.tell(entry, now());
            return tables.putEntry(entry);
          },
        }),
      );
    return ledger;
  }

  page({ since, after }: GatewayEventQuery): Promise<GatewayEventPage> {
    const from = after === null ? this.all.length : Number(after);
    const found: News[] = [];
    let at = from - 1;
    for (; at >= 0 && found.length < PAGE; at -= 1) {
      const one = this.all[at]!;
      if (one.at < since) break;
      found.push(one);
    }
    const isMore = found.length === PAGE && at >= 0;
    return Promise.resolve({
      events: found.length,
      hints: found.map(({ hint }) => hint),
      newestAt: found[0]?.at ?? null,
      next: isMore ? String(at + 1) : null,
    });
  }

  private tell({ paymentId, authorizationReference, gatewayKey, kind }: LedgerEntry, at: Date): void {
    const reference = authorizationReference ?? `of ${gatewayKey}`;
    const hint = { eventId: `${kind} ${this.all.length}`, reference, labelled: parsePaymentId(paymentId) };
    this.all.push({ at, hint });
  }
}

/** Whoever knows this world's word has signed. */
export const signatureOfWorld: SignedGatewayEvents = {
  expect: async (signature) => {
    if (signature !== SIGNATURE)
      throw new GatewayEventError("gateway_signature_invalid", "not of this world");
    return (body) => JSON.parse(new TextDecoder().decode(body)) as GatewayHint;
  },
};

export function signed({ hint }: News): { readonly headers: Record<string, string>; readonly body: string } {
  return { headers: { "stripe-signature": SIGNATURE }, body: JSON.stringify(hint) };
}
