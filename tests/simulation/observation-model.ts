import type { GatewayVerdict } from "../../src/domain/payment/facts";
import { parseIdempotencyKey } from "../../src/domain/identifiers";
import { decideCapture, decideRefund } from "../../src/domain/payment/decide-movement";
import { isInReview, isOpen } from "../../src/domain/payment/operation";
import { amountCaptured, amountRefunded, operationOf, type Payment } from "../../src/domain/payment/payment";
import { observe } from "../../src/domain/payment/picture/observation";
import type { GatewayPicture } from "../../src/domain/payment/picture/gateway-picture";
import { observePicture } from "../../src/domain/payment/picture/observe-picture";
import { statementOf } from "../../src/domain/payment/picture/statement-of";
import { restored } from "../../src/domain/payment/restored";
import { applyVerdict, settle } from "../../src/domain/payment/settlement";
import type { Step } from "../../src/domain/payment/step";
import { NOON, authorizedPayment, capturedPayment, step } from "../support/worlds/payments";
import { exploreAll, type Exploration, type Steps } from "./interleavings";
import { nameOf, paymentOf } from "./named-payments";

/**
 * One payment, in every order of the steps of those who are at it at once without a lock: a caller's movement, which may
 * land late or lose its answer, two observers, and what happens at the gateway meanwhile. The steps of the payment are the
 * program's own; the store compares versions, and the gateway captures an authorization once.
 */
export interface Rules {
  readonly scenario: "a capture, and one in the dashboard" | "a refund, and an earlier one that fails";
  readonly crashes: number;
  readonly mistake?:
    "no version" | "ids are not looked at" | "absence closes" | "a later word does not count";
}

interface AtGateway {
  captured: { reference: string; amount: string; operationId: string | null } | null;
  refunds: { reference: string; amount: string; operationId: string | null; failed: boolean }[];
  /** Sent, and neither landed nor lost. */
  inFlight: string[];
}

interface Shared {
  payment: Payment;
  version: number;
  readonly gateway: AtGateway;
}

export function explore(rules: Rules): Promise<Exploration> {
  const isCapture = rules.scenario === "a capture, and one in the dashboard";
  const start = isCapture ? restored(authorizedPayment().facts) : refundedPayment();
  return exploreAll<Shared>({
    shared: () => ({ payment: start, version: 1, gateway: gatewayOf(start) }),
    describe: ({ payment, version, gateway }) => `${nameOf(payment)} ${version} ${JSON.stringify(gateway)}`,
    processes: [
      (steps) => caller(steps, isCapture),
      (steps) => network(steps, isCapture),
      (steps) => others(steps, isCapture),
      (steps) => observer(steps, 2, rules),
      (steps) => observer(steps, 3, rules),
    ],
    mostCrashes: rules.crashes,
    onCrash: () => undefined,
    violation: wrongNow,
    atTheEnd: async (shared) => wrongInTheEnd(shared, rules),
  });
}

/** Captured whole, and refunded in part; the refund can still fail. */
function refundedPayment(): Payment {
  const captured = restored(capturedPayment().facts);
  const request = { idempotencyKey: parseIdempotencyKey("first"), fingerprint: "first" };
  const begun = decideRefund(captured, request, { amount: 600n }, numbered(0));
  if (begun.outcome !== "begun") throw begun.refusal;
  const answer = { outcome: "succeeded", reference: "re_first" } as const;
  return restored(settle(begun.payment, begun.operationId, answer, numbered(0)).facts);
}

function gatewayOf({ facts: { operations } }: Payment): AtGateway {
  const done = operations.map(({ kind, id, amount, status, gatewayReference }) => ({
    kind,
    seen: { reference: gatewayReference ?? "none", amount: `${amount}`, operationId: id },
    isDone: status === "succeeded",
  }));
  return {
    captured: done.find(({ kind, isDone }) => kind === "capture" && isDone)?.seen ?? null,
    refunds: done
      .filter(({ kind, isDone }) => kind === "refund" && isDone)
      .map(({ seen }) => ({ ...seen, failed: false })),
    inFlight: [],
  };
}

/** Intent, send, and settle by an answer; or the answer is lost. */
async function caller({ take }: Steps<Shared>, isCapture: boolean): Promise<void> {
  const request = { idempotencyKey: parseIdempotencyKey("k"), fingerprint: "k" };
  const read = await take("reads", readIt);
  const before = paymentOf(read.payment);
  const decision = isCapture
    ? decideCapture(before, request, {}, numbered(1))
    : decideRefund(before, request, { amount: 400n }, numbered(1));
  if (decision.outcome === "refused") return;
  const intended = nameOf(decision.payment);
  if (!(await take("writes its intent", writing(intended, read.version)))) return;
  const { operationId: id } = decision;
  await take("sends", ({ gateway }) => void gateway.inFlight.push(id));
  const answer = await take("hears an answer, if there is one", (shared) => answerTo(shared, id, isCapture));
  for (let tries = 0; answer !== null && tries < 4; tries += 1) {
    const now = await take("reads to settle", readIt);
    const settled = applyVerdict(paymentOf(now.payment), id, verdictIn(answer), numbered(1, tries + 1));
    if (settled === paymentOf(now.payment)) return;
    if (await take("settles", writing(nameOf(settled), now.version))) return;
  }
}

/** What was sent lands once, whenever that is; a second capture is refused. */
async function network({ take }: Steps<Shared>, isCapture: boolean): Promise<void> {
  await take("lets what is on its way land", ({ gateway }) => {
    for (const operationId of gateway.inFlight.splice(0)) {
      const seen = { reference: `ref_${operationId}`, amount: isCapture ? "1000" : "400", operationId };
      if (!isCapture) gateway.refunds.push({ ...seen, failed: false });
      else gateway.captured ??= seen;
    }
  });
}

async function others({ take }: Steps<Shared>, isCapture: boolean): Promise<void> {
  await take("changes something at the gateway", ({ gateway }) => {
    if (isCapture) gateway.captured ??= { reference: "ch_dashboard", amount: "1000", operationId: null };
    else Object.assign(gateway.refunds[0] ?? {}, { failed: true });
  });
}

/** As `ObservePayment`: reads, has a picture drawn, writes if nobody has written since, else anew. */
async function observer({ take }: Steps<Shared>, which: number, rules: Rules): Promise<void> {
  for (let tries = 0; tries < 3; tries += 1) {
    const read = await take("reads", readIt);
    const drawn = await take("sees the picture", ({ gateway }) => JSON.stringify(gateway));
    const before = paymentOf(read.payment);
    const next = compared(before, JSON.parse(drawn) as AtGateway, numbered(which, tries), rules);
    if (next === before) return;
    const version = rules.mistake === "no version" ? null : read.version;
    if (await take("writes what differs", writing(nameOf(next), version))) return;
  }
}

function compared(payment: Payment, gateway: AtGateway, now: Step, { mistake }: Rules): Payment {
  const drawn = pictureOf(gateway);
  const picture = mistake === "ids are not looked at" ? withoutIds(drawn) : drawn;
  let next = payment;
  // What `find` says of refunds that have ended, which a picture shows, too.
  if (mistake !== "a later word does not count") {
    for (const { id, kind, status, origin } of payment.facts.operations) {
      if (kind !== "refund" || status !== "succeeded" || origin === "gateway") continue;
      next = observe(next, id, statementOf(picture, operationOf(next, id)!), now);
    }
  }
  next = observePicture(next, picture, now);
  const open = next.facts.operations.find(isOpen);
  if (mistake !== "absence closes" || open === undefined) return next;
  return statementOf(picture, open).outcome === "absent"
    ? settle(next, open.id, { outcome: "declined", reason: "not there" }, now)
    : next;
}

function pictureOf({ captured, refunds }: AtGateway): GatewayPicture {
  return {
    authorization: captured === null ? "open" : "captured",
    authorizedUntil: null,
    captured: captured === null ? null : { ...captured, amount: BigInt(captured.amount) },
    cancellation: null,
    refunds: refunds.map(({ reference, amount, operationId, failed }) => ({
      reference,
      operationId,
      amount: BigInt(amount),
      state: failed ? "failed" : "succeeded",
      reason: failed ? "returned" : null,
    })),
    disputes: [],
  };
}

function withoutIds(picture: GatewayPicture): GatewayPicture {
  const { captured, refunds } = picture;
  return {
    ...picture,
    captured: captured === null ? null : { ...captured, operationId: null },
    refunds: refunds.map((refund) => ({ ...refund, operationId: null })),
  };
}

type Heard = { readonly own: string } | { readonly taken: string } | null;

function answerTo({ gateway }: Shared, id: string, isCapture: boolean): Heard {
  if (!isCapture) {
    const refund = gateway.refunds.find(({ operationId }) => operationId === id);
    return refund === undefined ? null : { own: refund.reference };
  }
  if (gateway.captured === null || gateway.inFlight.includes(id)) return null;
  const { operationId, reference } = gateway.captured;
  return operationId === id ? { own: reference } : { taken: reference };
}

function verdictIn(heard: NonNullable<Heard>): GatewayVerdict {
  return "own" in heard
    ? { outcome: "succeeded", reference: heard.own }
    : { outcome: "mismatch", evidence: `${heard.taken}: captured elsewhere`, reference: heard.taken };
}

function readIt({ payment, version }: Shared) {
  return { payment: nameOf(payment), version };
}

/** Null for a writer that does not compare versions. */
function writing(payment: string, version: number | null) {
  return (shared: Shared): boolean => {
    if (version !== null && shared.version !== version) return false;
    const given = paymentOf(payment);
    // As rows are upserted: what the writer does not know of stays.
    const { operations } = given.facts;
    const written = new Set(operations.map(({ id }) => id));
    const kept = shared.payment.facts.operations.filter(({ id }) => !written.has(id));
    shared.payment =
      kept.length === 0 ? given : restored({ ...given.facts, operations: [...operations, ...kept] });
    shared.version += 1;
    return true;
  };
}

/** Ids in order, and different for each who draws them. */
function numbered(which: number, tries = 0): Step {
  let n = which * 10_000 + tries * 100;
  const nextId = () => `00000000-0000-7000-8000-${String((n += 1)).padStart(12, "0")}`;
  return { ...step(NOON), nextId };
}

/** What must never be, not even for a moment. */
function wrongNow({ payment, gateway }: Shared): string | null {
  const captured = BigInt(gateway.captured?.amount ?? "0");
  if (amountCaptured(payment) > captured) return "more is counted as captured than was";
  const refunded = gateway.refunds.reduce((sum, { amount }) => sum + BigInt(amount), 0n);
  return amountRefunded(payment) > refunded ? "more is counted as refunded than was" : null;
}

/** One more observation, with nobody else about: then the totals are the gateway's, or a person has both sides. */
function wrongInTheEnd(shared: Shared, rules: Rules): string | null {
  const { gateway } = shared;
  const calm = compared(shared.payment, gateway, numbered(9), rules);
  if (compared(restored(calm.facts), gateway, numbered(8), rules).newEvents.length > 0) {
    return "the same picture changes something a second time";
  }
  if (calm.facts.operations.some(isInReview)) {
    // Only where others took what ours was to take is there anything for a person to decide.
    return gateway.captured?.operationId === null ? null : "a person is asked about what the gateway shows";
  }
  if (amountCaptured(calm) !== BigInt(gateway.captured?.amount ?? "0"))
    return "captured is not what was captured";
  const refunded = gateway.refunds
    .filter(({ failed }) => !failed)
    .reduce((sum, { amount }) => sum + BigInt(amount), 0n);
  return amountRefunded(calm) === refunded ? null : "refunded is not what was refunded";
}
