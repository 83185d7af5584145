import type { PaymentRepository, StoredPayment } from "../../../src/application/ports/payment-repository";
import type { PaymentEvent } from "../../../src/domain/payment/events";
import type { Payment } from "../../../src/domain/payment/payment";
import { restored } from "../../../src/domain/payment/restored";
import type { Plant } from "./world";

/** A mistake that the program could have, made between it and what is around it. */
export interface PlantedFault {
  readonly name: string;
  readonly plant: () => Plant;
  /** The first world that is tried, and how long it lasts. Left out: the first one there is, and a short one. */
  readonly seed?: number;
  readonly operations?: number;
  /** What the judges say of it. */
  readonly noticed: RegExp;
}

/** One in so many: so that everything around it is in order. */
function everyNth(n = 12): () => boolean {
  let calls = 0;
  return () => (calls += 1) % n === 0;
}

export const plantedFaults: readonly PlantedFault[] = [
  {
    name: "a capture is made twice",
    seed: 16,
    operations: 120,
    plant: () => {
      const isChosen = everyNth(2);
      return {
        ground: ({ gateway }) => ({
          gateway: changed(gateway, {
            capture: async (request) => {
              const answer = await gateway.capture(request);
              if (answer.outcome === "succeeded" && isChosen())
                await gateway.capture({ ...request, gatewayKey: `${request.gatewayKey}.twice` });
              return answer;
            },
          }),
        }),
      };
    },
    noticed: /no order of its calls explains/,
  },
  {
    name: "a save is acknowledged and not stored",
    seed: 15,
    plant: () => {
      const isChosen = everyNth();
      return {
        ground: ({ payments }) => ({
          payments: changed(payments, {
            save: async (payment, version) => {
              const isEnd = payment.newEvents.some(({ type }) => /^(capture|refund)\.succeeded$/.test(type));
              if (isEnd && version !== "new" && isChosen()) return asIfStored(payment, version);
              return payments.save(payment, version);
            },
          }),
        }),
      };
    },
    noticed: /no order of its calls explains|two answers that cannot both be true/,
  },
  {
    name: "a read shows what was before",
    seed: 10,
    operations: 200,
    plant: () => {
      const isChosen = everyNth(5);
      const before = new Map<string, StoredPayment>();
      return {
        ground: ({ payments }) => ({
          payments: changed(payments, {
            find: async (id) => {
              const now = await payments.find(id);
              const former = before.get(id);
              if (now !== null) before.set(id, now);
              return former !== undefined && isChosen() ? former : now;
            },
          }),
        }),
      };
    },
    noticed: /no order of its calls explains|two answers that cannot both be true/,
  },
  {
    name: "an answer is not what was answered",
    seed: 13,
    operations: 120,
    plant: () => {
      const isChosen = everyNth();
      const captured = /"amountCaptured":(\d\d+)/;
      return {
        answers: (text) =>
          captured.test(text) && isChosen() ? text.replace(captured, '"amountCaptured":1$1') : text,
      };
    },
    noticed: /no order of its calls explains|two answers that cannot both be true/,
  },
  {
    name: "the reconciler does nothing",
    seed: 8,
    operations: 60,
    plant: () => ({
      ground: ({ payments }) => ({
        payments: changed(payments, { dueOperations: async () => [] }),
      }),
    }),
    noticed: /is still unknown|is still pending|is still started/,
  },
  {
    name: "a webhook is never sent",
    seed: 2,
    operations: 120,
    plant: () => {
      const isChosen = everyNth();
      return {
        ground: ({ webhooks }) => {
          const fanOut = changed(webhooks.fanOut, {
            advance: (from, to, deliveries) =>
              webhooks.fanOut.advance(from, to, isChosen() ? deliveries.slice(1) : deliveries),
          });
          return { webhooks: changed(webhooks, { fanOut }) };
        },
      };
    },
    noticed: /was never told of|was told .* after a later one/,
  },
  {
    name: "an intent is written down with its outcome, and not before the gateway is asked",
    seed: 18,
    operations: 60,
    plant: () => ({ ground: ({ payments }) => ({ payments: intentsLater(payments) }) }),
    noticed: /no order of its calls explains|two answers that cannot both be true/,
  },
  {
    name: "an event is left out of the feed",
    seed: 2,
    operations: 120,
    plant: () => {
      const isChosen = everyNth();
      const left = new Set<string>();
      return {
        ground: ({ feed }) => ({
          feed: changed(feed, {
            read: async (query) => {
              const page = await feed.read(query);
              const last = page.events.at(-1);
              if (last !== undefined && query.merchant === undefined && isChosen()) left.add(last.id);
              return { ...page, events: page.events.filter(({ id }) => !left.has(id)) };
            },
          }),
        }),
      };
    },
    noticed: /the feed has|was never told of/,
  },
  {
    name: "a question to the store is never answered inside of a lock",
    seed: 8,
    operations: 90,
    plant: () => ({
      ground: ({ payments }) => ({
        payments: changed(payments, { events: () => new Promise(() => undefined) }),
      }),
    }),
    noticed: /locks are held|does not end|has no last word/,
  },
  {
    name: "a timer is never stopped",
    seed: 4,
    operations: 60,
    plant: () => ({
      ground: ({ payments }) => ({
        payments: changed(payments, {
          dueOperations: (...asked) => {
            setInterval(() => undefined, 10_000);
            return payments.dueOperations(...asked);
          },
        }),
      }),
    }),
    noticed: /of its timers have not/,
  },
];

/** The same with some of it otherwise; what is a getter there stays one. */
function changed<T extends object>(target: T, otherwise: Partial<T>): T {
  return new Proxy(target, {
    get(object, name) {
      if (name in otherwise) return Reflect.get(otherwise, name) as unknown;
      const member: unknown = Reflect.get(object, name, object);
      return typeof member === "function" ? (member.bind(object) as unknown) : member;
    },
  });
}

function asIfStored(payment: Payment, version: number): StoredPayment {
  return { payment: restored(payment.facts), version: version + 1 };
}

/** Keeps each intent back until the next save of its payment, and forgets it with the process that made it. */
function intentsLater(payments: PaymentRepository): PaymentRepository {
  const kept = new Map<string, { readonly version: number; readonly events: readonly PaymentEvent[] }>();
  return changed(payments, {
    save: async (payment, version) => {
      const { id } = payment.facts;
      const own = kept.get(id);
      kept.delete(id);
      const isIntent = payment.newEvents.every(({ type }) => /^(capture|refund)\.started$/.test(type));
      if (isIntent && version !== "new") {
        kept.set(id, { version, events: payment.newEvents });
        return asIfStored(payment, version);
      }
      if (own === undefined || version !== own.version + 1) return payments.save(payment, version);
      const together = { ...payment, newEvents: [...own.events, ...payment.newEvents] };
      const stored = await payments.save(together, own.version);
      return { ...stored, version: stored.version };
    },
  });
}
