import { restored } from "../../../src/domain/payment/restored";
import { amountRefunded, operationOf, type Payment } from "../../../src/domain/payment/payment";
import type {
  FindAnswer,
  GatewayAnswer,
  PaymentGateway,
} from "../../../src/application/ports/payment-gateway";
import type { AuthorizationLookup } from "../../../src/application/ports/authorization-lookup";
import type {
  DueOperation,
  PaymentRepository,
  StoredPayment,
} from "../../../src/application/ports/payment-repository";
import { isRelease, progressed, type Operation } from "../../../src/domain/payment/operation";
import { InMemoryPaymentRepository } from "../../../src/infrastructure/persistence/memory/in-memory-payment-repository";
import { resolveReview } from "./operator";
import type { Plant } from "./payment-life";

type Gateway = PaymentGateway & AuthorizationLookup;

/** A mistake that somebody could make in the engine or in an adapter, made between it and its ports. */
export interface PlantedMistake {
  readonly name: string;
  readonly profile: string;
  /** A short life in which it is noticed; at full size it is tried from the first seed on, and longer. */
  readonly brief: { readonly seed: number; readonly steps: number };
  readonly plant?: Plant;
  readonly payments?: () => PaymentRepository;
  /** What the judges say of it. */
  readonly noticed: RegExp;
}

const money = /^payment .* (?:moved|captured|refunded|was told)/;

export const plantedMistakes: readonly PlantedMistake[] = [
  {
    name: "what the gateway does not know is taken for what never happened",
    profile: "a storm",
    brief: { seed: 3, steps: 300 },
    plant: {
      gateway: (gateway) => ({
        ...passedOn(gateway),
        find: async (request): Promise<FindAnswer> => {
          const found = await gateway.find(request);
          return found.outcome === "absent" ? { outcome: "declined", reason: "never arrived" } : found;
        },
      }),
    },
    noticed: money,
  },
  {
    name: "what the gateway has not decided yet is taken for refused",
    profile: "a gateway of its own mind",
    brief: { seed: 10, steps: 300 },
    plant: {
      gateway: (gateway) => ({
        ...passedOn(gateway),
        find: async (request): Promise<FindAnswer> => {
          const found = await gateway.find(request);
          return found.outcome === "pending" ? { outcome: "declined", reason: "takes too long" } : found;
        },
      }),
    },
    noticed: money,
  },
  {
    name: "silence is taken for a request that was not sent",
    profile: "one server",
    brief: { seed: 7, steps: 300 },
    plant: {
      gateway: (gateway) => changed(gateway, (answer) => (answer.outcome === "unknown" ? notSent : answer)),
    },
    noticed: money,
  },
  {
    name: "silence is taken for a refusal",
    profile: "one server",
    brief: { seed: 8, steps: 300 },
    plant: {
      gateway: (gateway) => changed(gateway, (answer) => (answer.outcome === "unknown" ? refused : answer)),
    },
    noticed: money,
  },
  {
    name: "each send has a key of its own",
    profile: "one server",
    brief: { seed: 6, steps: 300 },
    plant: {
      gateway: (gateway) => {
        let sends = 0;
        const anew = <R extends { readonly gatewayKey: string }>(request: R): R => ({
          ...request,
          gatewayKey: `${request.gatewayKey}.${(sends += 1)}`,
        });
        return {
          ...passedOn(gateway),
          authorize: (request) => gateway.authorize(anew(request)),
          capture: (request) => gateway.capture(anew(request)),
          void: (request) => gateway.void(anew(request)),
          refund: (request) => gateway.refund(anew(request)),
        };
      },
    },
    noticed: money,
  },
  {
    name: "a key is sent again when the gateway has forgotten it",
    profile: "a forgetful gateway",
    brief: { seed: 1, steps: 600 },
    plant: { gateway: (gateway) => ({ ...passedOn(gateway), remembersKeysForMs: 1e12 }) },
    noticed: money,
  },
  {
    name: "neither a lock nor a guard in the store",
    profile: "no lock",
    brief: { seed: 7, steps: 300 },
    payments: () => new InMemoryPaymentRepository([]),
    noticed: money,
  },
  {
    name: "a retried request that was not sent asks for another amount",
    profile: "a storm",
    brief: { seed: 7, steps: 600 },
    plant: {
      payments: (payments) => {
        const lowered = new Set<string>();
        const shown = ({ payment, version }: StoredPayment): StoredPayment => {
          const operations = payment.facts.operations.map((operation) =>
            lowered.has(operation.id) ? { ...operation, amount: operation.amount - 1n } : operation,
          );
          return { payment: withOperations(payment, operations), version };
        };
        const find: PaymentRepository["find"] = async (id) => {
          const stored = await payments.find(id);
          return stored === null ? null : shown(stored);
        };
        return {
          ...bound(payments),
          find,
          save: async (payment, version) => {
            const stored = await find(payment.facts.id);
            for (const { id, status } of payment.facts.operations)
              if (status === "started" && (stored && operationOf(stored.payment, id))?.status === "not_sent")
                lowered.add(id);
            return shown(await payments.save(payment, version));
          },
        };
      },
    },
    noticed: /was bound to something else/,
  },
  {
    name: "a release that is refused for good goes on for ever",
    profile: "a gateway of its own mind",
    brief: { seed: 6, steps: 300 },
    plant: {
      gateway: (gateway) => {
        const refusal = <Answer extends GatewayAnswer | FindAnswer>(answer: Answer) =>
          answer.outcome === "mismatch" ? refused : answer;
        return {
          ...passedOn(gateway),
          void: async (request) => refusal(await gateway.void(request)),
          find: async (request) => refusal(await gateway.find(request)),
        };
      },
      payments: (payments) =>
        savedAs(payments, (operation) =>
          isRelease(operation) ? progressed(operation, { attempts: 0 }) : operation,
        ),
    },
    noticed: /release .* was sent under \d+ keys/,
  },
  {
    name: "an operation in review is never asked about",
    profile: "persons who err",
    brief: { seed: 3, steps: 300 },
    plant: {
      payments: (payments) =>
        withoutSome(payments, async ({ paymentId, operationId }) => {
          const stored = await payments.find(paymentId);
          return (stored && operationOf(stored.payment, operationId))?.status === "needs_review";
        }),
    },
    noticed: /is in review, and the gateway is never asked/,
  },
  {
    name: "a due time in the future is believed",
    profile: "wrong clocks",
    brief: { seed: 12, steps: 600 },
    plant: { payments: (payments) => withoutSome(payments, async ({ dueAt }, now) => dueAt > now) },
    noticed: /for ever/,
  },
  {
    name: "a verdict is not compared with what the gateway says",
    profile: "persons who err",
    brief: { seed: 2, steps: 300 },
    plant: {
      resolve: (process, operationId, verdict) =>
        resolveReview(process, operationId, { overrideReason: "whatever the gateway says", ...verdict }),
    },
    noticed: money,
  },
  {
    name: "a refusal is told as a success at first, and set right by a person who is asked",
    profile: "persons who err",
    brief: { seed: 6, steps: 600 },
    plant: {
      gateway: (gateway) => ({
        ...passedOn(gateway),
        capture: async (request) => {
          const answer = await gateway.capture(request);
          return answer.outcome === "declined" ? { outcome: "succeeded", reference: "taken" } : answer;
        },
      }),
    },
    noticed: /was told as succeeded, and is failed/,
  },
  {
    name: "what others took is taken for nobody's business",
    profile: "observers",
    brief: { seed: 3, steps: 300 },
    plant: {
      gateway: (gateway) => ({
        ...passedOn(gateway),
        picture: async (request) => {
          const answer = await passedOn(gateway).picture?.(request);
          if (answer?.outcome !== "seen" || answer.picture.captured?.operationId !== null)
            return answer ?? silent;
          return {
            outcome: "seen",
            picture: { ...answer.picture, authorization: "undecided", captured: null },
          };
        },
      }),
    },
    noticed: /others captured/,
  },
  {
    name: "a hint is taken for evidence of what it hints at",
    profile: "hints",
    brief: { seed: 2, steps: 2_000 },
    plant: {
      asking: (gateway) => ({
        ...gateway,
        find: async (request): Promise<FindAnswer> => {
          const found = await gateway.find(request);
          return found.outcome === "absent" ? { outcome: "succeeded", reference: "as hinted" } : found;
        },
      }),
    },
    noticed: money,
  },
  {
    name: "a hint sends what the gateway has not received",
    profile: "hints",
    brief: { seed: 3, steps: 300 },
    plant: {
      asking: (gateway) => ({
        ...gateway,
        find: async (request): Promise<FindAnswer> => {
          const found = await gateway.find(request);
          const { kind, authorizationReference } = request;
          if (found.outcome !== "absent" || kind === "authorize" || authorizationReference === null)
            return found;
          const answer = await gateway[kind]({ ...request, authorizationReference });
          return answer.outcome === "not_sent" ? found : answer;
        },
      }),
    },
    noticed: /a hint had a \w+ sent/,
  },
  {
    name: "a step is stored without its events",
    profile: "one server",
    brief: { seed: 3, steps: 300 },
    plant: {
      payments: (payments) => ({
        ...bound(payments),
        save: (payment, version) =>
          payments.save(amountRefunded(payment) > 0n ? restored(payment.facts) : payment, version),
      }),
    },
    noticed: /events, numbered|by its history/,
  },
  {
    name: "the latest of several operations is read first",
    profile: "one server",
    brief: { seed: 3, steps: 300 },
    plant: {
      payments: (payments) => ({
        ...bound(payments),
        find: async (id) => {
          const stored = await payments.find(id);
          if (stored === null) return null;
          const operations = stored.payment.facts.operations.toReversed();
          return { ...stored, payment: withOperations(stored.payment, operations) };
        },
      }),
    },
    noticed: /read back/,
  },
];

const silent = { outcome: "unknown", reason: "no picture" } as const;
const notSent: GatewayAnswer = { outcome: "not_sent", reason: "timeout" };
const refused = { outcome: "declined", reason: "timeout" } as const;

function passedOn(gateway: Gateway): Gateway {
  return {
    remembersKeysForMs: gateway.remembersKeysForMs,
    authorize: (request) => gateway.authorize(request),
    capture: (request) => gateway.capture(request),
    void: (request) => gateway.void(request),
    refund: (request) => gateway.refund(request),
    find: (request) => gateway.find(request),
    ...(gateway.picture === undefined ? {} : { picture: gateway.picture.bind(gateway) }),
    lookupAuthorization: (request) => gateway.lookupAuthorization(request),
  };
}

function changed(gateway: Gateway, change: (answer: GatewayAnswer) => GatewayAnswer): Gateway {
  return {
    ...passedOn(gateway),
    authorize: async (request) => change(await gateway.authorize(request)),
    capture: async (request) => change(await gateway.capture(request)),
    void: async (request) => change(await gateway.void(request)),
    refund: async (request) => change(await gateway.refund(request)),
  };
}

/** Each method of it, as a member of an object that others can be put beside. */
function bound(payments: PaymentRepository): PaymentRepository {
  const methods: Record<string, unknown> = {};
  for (
    let owner: object | null = payments;
    owner !== null && owner !== Object.prototype;
    owner = Object.getPrototypeOf(owner) as object | null
  ) {
    for (const name of Object.getOwnPropertyNames(owner)) {
      const member: unknown = Reflect.get(payments, name);
      if (typeof member === "function") methods[name] ??= member.bind(payments);
    }
  }
  return methods as unknown as PaymentRepository;
}

/** What no step of a payment does. */
function withOperations(payment: Payment, operations: readonly Operation[]): Payment {
  return { ...payment, facts: { ...payment.facts, operations } };
}

function savedAs(
  payments: PaymentRepository,
  change: (operation: Operation) => Operation,
): PaymentRepository {
  return {
    ...bound(payments),
    save: (payment, version) => {
      const operations = payment.facts.operations.map(change);
      return payments.save(withOperations(payment, operations), version);
    },
  };
}

function withoutSome(
  payments: PaymentRepository,
  isLeftOut: (due: DueOperation, now: Date) => Promise<boolean>,
): PaymentRepository {
  return {
    ...bound(payments),
    dueOperations: async (now, limit, after) => {
      const kept: DueOperation[] = [];
      for (const due of await payments.dueOperations(now, limit, after)) {
        if (!(await isLeftOut(due, now))) kept.push(due);
      }
      return kept;
    },
  };
}
