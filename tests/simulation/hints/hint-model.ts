import { FollowHint } from "../../../src/application/gateway-events/follow-hint";
import type { HintOutcome } from "../../../src/application/gateway-events/hint-observer";
import type { OperationContext } from "../../../src/application/operations/operation-context";
import type { Caller } from "../../../src/application/operations/caller";
import { LockError } from "../../../src/application/ports/lock-errors";
import type { LockProvider } from "../../../src/application/ports/lock-provider";
import type { PaymentGateway } from "../../../src/application/ports/payment-gateway";
import { CapturePayment } from "../../../src/application/use-cases/capture-payment";
import { ObservePayment } from "../../../src/application/use-cases/observe-payment";
import { RefundPayment } from "../../../src/application/use-cases/refund-payment";
import { parseIdempotencyKey } from "../../../src/domain/identifiers";
import { decideRefund } from "../../../src/domain/payment/decide-movement";
import { PaymentError } from "../../../src/domain/payment/errors";
import { isInReview } from "../../../src/domain/payment/operation";
import { amountCaptured, amountRefunded, type Payment } from "../../../src/domain/payment/payment";
import { restored } from "../../../src/domain/payment/restored";
import { settle } from "../../../src/domain/payment/settlement";
import { NoOpLockProvider } from "../../../src/infrastructure/locking/none/no-op-lock-provider";
import { NOON, authorizedPayment, capturedPayment, step } from "../../support/worlds/payments";
import { exploreAll, type Exploration, type Steps } from "../interleavings";
import { nameOf } from "../named-payments";
import { planted, type HintModelMistake } from "./hint-model-mistakes";
import { booksOf, gatewayOver, lands, type Books } from "./model-gateway";
import { locksOver, storeOver, type Stored } from "./model-store";

/**
 * One payment, in every order of the steps of those who are at it at once: a caller's request, the network, others who use
 * the gateway, and instances that follow its hints. All that they do is the program's own use cases; each call of a port
 * is a step. Nothing but hints asks about what a caller was not told: what they leave unknown stays so.
 */
export interface HintRules {
  readonly caller: "captures" | "refunds" | "does nothing";
  readonly others: "do nothing" | "capture in the dashboard" | "have an earlier refund fail";
  /** That follow hints, so often each. */
  readonly instances: number;
  readonly rounds: number;
  readonly locked: boolean;
  readonly crashes: number;
  readonly lastFirst?: boolean;
  readonly mistake?: HintModelMistake;
}

export interface Shared extends Stored {
  readonly books: Books;
  /** One for all events, as the store keeps it: renewed by each, and dropped by whoever has followed the last. */
  hint: { revision: number; followed: number };
  /** What was sent, and on whose behalf. */
  readonly sent: string[];
  told: string;
}

const CALLER: Omit<Caller, "merchant"> = { actor: { caller: "model" }, lockTimeout: 0 };
const MOST_DRAINS = 5;

export function exploreHints(rules: HintRules): Promise<Exploration> {
  const start = startOf(rules);
  const instances = Array.from({ length: rules.instances }, (_, n) => n + 3);
  return exploreAll<Shared>({
    shared: () => {
      // Of runs that were left in the middle of a question.
      jest.clearAllTimers();
      return sharedOf(start);
    },
    describe: ({ payment, ...rest }) => `${nameOf(payment)} ${JSON.stringify(rest)}`,
    processes: [
      (steps) => caller(steps, rules),
      network,
      (steps) => others(steps, rules),
      ...instances.map((which) => (steps: Steps<Shared>) => follower(steps, which, rules)),
    ],
    mostCrashes: rules.crashes,
    lastFirst: rules.lastFirst === true,
    onCrash: (shared, process) => {
      if (shared.holder === process) shared.holder = null;
    },
    violation: wrongNow,
    atTheEnd: (shared) => wrongInTheEnd(shared, rules),
  });
}

function startOf(rules: HintRules): Payment {
  if (rules.caller === "captures" || rules.others === "capture in the dashboard")
    return restored(authorizedPayment().facts);
  const captured = restored(capturedPayment().facts);
  const request = { idempotencyKey: parseIdempotencyKey("first"), fingerprint: "first" };
  const begun = decideRefund(captured, request, { amount: 600n }, step(NOON));
  if (begun.outcome !== "begun") throw begun.refusal;
  const answer = { outcome: "succeeded", reference: "re_first" } as const;
  return restored(settle(begun.payment, begun.operationId, answer, step(NOON)).facts);
}

function sharedOf(payment: Payment): Shared {
  const hint = { revision: 1, followed: 0 };
  return {
    payment,
    version: 1,
    history: [],
    holder: null,
    books: booksOf(payment),
    hint,
    sent: [],
    told: "",
  };
}

/** Everything that a process needs, each call of a port one step after the other. */
function connameOf(steps: Pick<Steps<Shared>, "take">, which: number, rules: HintRules) {
  const inTurn = oneByOne(steps);
  let n = which * 10_000;
  const nextId = () => `00000000-0000-7000-8000-${String((n += 1)).padStart(12, "0")}`;
  const context: OperationContext = {
    payments: storeOver(inTurn, { blind: rules.mistake === "no version" }),
    gateway: watched(gatewayOver(inTurn), inTurn, which),
    clock: { now: () => NOON },
    ids: { nextId },
    random: () => 0,
    sleep: async () => {},
  };
  const locks: LockProvider = rules.locked ? locksOver(inTurn, which) : new NoOpLockProvider();
  return { context, locks, steps: inTurn };
}

/** Questions that a process asks at once are steps all the same, and a process takes one at a time. */
function oneByOne({ take }: Pick<Steps<Shared>, "take">): Pick<Steps<Shared>, "take"> {
  let last: Promise<unknown> = Promise.resolve();
  return {
    take: (label, effect) => {
      const mine = last.then(() => take(label, effect));
      last = mine;
      return mine;
    },
  };
}

/** Notes who sends. */
function watched(
  gateway: PaymentGateway,
  { take }: Pick<Steps<Shared>, "take">,
  which: number,
): PaymentGateway {
  const noting = (kind: "capture" | "refund"): PaymentGateway["capture"] => {
    return async (request) => {
      if (which !== 0) await take("sends", ({ sent }) => void sent.push(`${which}: ${kind}`));
      return gateway[kind](request);
    };
  };
  return { ...gateway, capture: noting("capture"), refund: noting("refund") };
}

function request(
  locks: LockProvider,
  context: OperationContext,
  { caller: kind }: HintRules,
  payment: Payment,
) {
  const { id: paymentId, merchant } = payment.facts;
  const command = { paymentId, idempotencyKey: parseIdempotencyKey("k") };
  return kind === "captures"
    ? new CapturePayment(locks, context).execute(command, { merchant, ...CALLER })
    : new RefundPayment(locks, context).execute({ ...command, amount: 400n }, { merchant, ...CALLER });
}

async function caller(steps: Steps<Shared>, rules: HintRules): Promise<void> {
  if (rules.caller === "does nothing") return;
  const { context, locks } = connameOf(steps, 0, rules);
  const told = await answerOf(() => request(locks, context, rules, startOfRun(steps)));
  await steps.take("is told", (shared) => void (shared.told = told));
}

function startOfRun(steps: Steps<Shared>): Payment {
  let payment: Payment | undefined;
  steps.now((shared) => (payment = shared.payment));
  if (payment === undefined) throw new Error("there is a payment from the beginning");
  return payment;
}

async function answerOf(ask: () => ReturnType<typeof request>): Promise<string> {
  try {
    const { operation } = await ask();
    return `${operation.status} ${operation.id} ${operation.amount}`;
  } catch (error) {
    if (error instanceof PaymentError || error instanceof LockError) return error.code;
    throw error;
  }
}

async function network({ take }: Steps<Shared>): Promise<void> {
  await take("delivers", ({ books, hint }) => {
    if (lands(books)) hint.revision += 1;
  });
  await take("loses what is left", ({ books }) => void (books.inFlight = []));
}

async function others({ take }: Steps<Shared>, rules: HintRules): Promise<void> {
  if (rules.others === "do nothing") return;
  await take("change something at the gateway", ({ books, hint }) => {
    hint.revision += 1;
    if (rules.others === "capture in the dashboard") {
      books.captured ??= { reference: "ch_dashboard", amount: "1000", operationId: null };
    } else books.refunds = books.refunds.map((one, n) => (n === 0 ? { ...one, failed: true } : one));
  });
}

/** As `WorkOnHints`: takes the hint, follows it, and is done with as much of it as it had taken. */
async function follower(steps: Steps<Shared>, which: number, rules: HintRules): Promise<void> {
  const { id } = startOfRun(steps).facts;
  for (let round = 0; round < rules.rounds; round += 1) {
    const taken = await steps.take("takes the hint", ({ hint }) =>
      hint.revision > hint.followed ? hint.revision : null,
    );
    if (taken === null) return;
    const follows = planted(rules.mistake, connameOf(steps, which, rules));
    const outcome = await follow(follows, id);
    if (outcome === "done" || rules.mistake === "a busy payment's hint is dropped") {
      await steps.take("is done with it", ({ hint }) => {
        const until =
          rules.mistake === "a hint that was renewed meanwhile is dropped" ? hint.revision : taken;
        hint.followed = Math.max(hint.followed, until);
      });
    }
  }
}

async function follow(
  { context, locks }: Pick<ReturnType<typeof connameOf>, "context" | "locks">,
  id: Payment["facts"]["id"],
): Promise<HintOutcome> {
  const following = new FollowHint(locks, context, new ObservePayment(locks, context));
  try {
    return await following.execute({ reference: "not known here", labelled: id });
  } catch (error) {
    // The store refused it too often; it is tried again.
    if (error instanceof PaymentError) return "unanswered";
    throw error;
  }
}

/** What must never be, not even for a moment. */
function wrongNow({ payment, books, sent, history }: Shared): string | null {
  if (amountCaptured(payment) > BigInt(books.captured?.amount ?? "0"))
    return "more is counted as captured than was";
  const refunded = books.refunds.reduce((sum, { amount }) => sum + BigInt(amount), 0n);
  if (amountRefunded(payment) > refunded) return "more is counted as refunded than was";
  const own = payment.facts.operations.find(
    ({ kind, origin, status }) => kind === "capture" && origin === "holdfast" && status === "succeeded",
  );
  if (own !== undefined && books.captured?.operationId !== own.id) return "what others captured is ours";
  if (sent.length > 0) return `sent because of a hint: ${sent.join(", ")}`;
  const ends = history.filter((line) => /\.succeeded /.test(line));
  return new Set(ends).size < ends.length ? "an end is told twice" : null;
}

/** The hints that are left are followed, with nobody else about. Then what is known is what is so. */
async function wrongInTheEnd(shared: Shared, rules: HintRules): Promise<string | null> {
  const atOnce: Pick<Steps<Shared>, "take"> = { take: async (_, effect) => effect(shared) };
  const honest = { ...rules, locked: false };
  const alone = planted(rules.mistake, connameOf(atOnce, 9, honest));
  const { id } = shared.payment.facts;
  const { hint } = shared;
  for (let drains = 0; hint.followed < hint.revision; drains += 1) {
    if (drains === MOST_DRAINS) return "a hint cannot be followed to its end";
    const taken = hint.revision;
    if ((await follow(alone, id)) === "done") hint.followed = taken;
  }
  const wrong = wrongNow(shared) ?? unlikeTheBooks(shared);
  if (wrong !== null) return wrong;
  const { version } = shared;
  await follow(alone, id);
  if (shared.version !== version) return "the same hint changes something a second time";
  return unlikeWhatWasTold(shared, atOnce, honest);
}

function unlikeTheBooks({ payment, books }: Shared): string | null {
  // Only where others took what ours was to take is there anything for a person to decide.
  if (payment.facts.operations.some(isInReview))
    return books.captured?.operationId === null ? null : "a person is asked about what the gateway shows";
  if (amountCaptured(payment) !== BigInt(books.captured?.amount ?? "0"))
    return "captured is not what was captured";
  const refunded = books.refunds
    .filter(({ failed }) => !failed)
    .reduce((sum, { amount }) => sum + BigInt(amount), 0n);
  return amountRefunded(payment) === refunded ? null : "refunded is not what was refunded";
}

/** A success that was told is told again, whatever became of it since. */
async function unlikeWhatWasTold(
  shared: Shared,
  steps: Pick<Steps<Shared>, "take">,
  rules: HintRules,
): Promise<string | null> {
  if (!shared.told.startsWith("succeeded")) return null;
  const { context, locks } = connameOf(steps, 0, rules);
  const again = await answerOf(() => request(locks, context, rules, shared.payment));
  return again === shared.told ? null : `the key was told ${shared.told}, and now ${again}`;
}
