import { createHash } from "node:crypto";
import type { HintOutcome } from "../../../src/application/gateway-events/hint-observer";
import type { AuthorizationLookup } from "../../../src/application/ports/authorization-lookup";
import type { PaymentGateway } from "../../../src/application/ports/payment-gateway";
import {
  VersionConflictError,
  type PaymentRepository,
} from "../../../src/application/ports/payment-repository";
import { ExpireAuthorizations } from "../../../src/application/use-cases/expire-authorizations";
import { ObservePayment } from "../../../src/application/use-cases/observe-payment";
import { ReconcileOperations } from "../../../src/application/use-cases/reconcile-operations";
import { parsePaymentId, type PaymentId } from "../../../src/domain/identifiers";
import { gatewayKey, isInReview, isRelease, type Operation } from "../../../src/domain/payment/operation";
import { openOperationOf, operationOf, type Payment } from "../../../src/domain/payment/payment";
import type {
  GatewayLedger,
  LedgerState,
} from "../../../src/infrastructure/gateways/simulated/ledgers/gateway-ledger";
import { SimulatedGateway } from "../../../src/infrastructure/gateways/simulated/simulated-gateway";
import { SeededRandom } from "../lease/seeded-random";
import { checkedRepository } from "./checked-repository";
import { followHint, type HintParts } from "./hints";
import { GatewayDealings } from "./judges/gateway-dealings";
import { isForeseen, merchant, request, type Told } from "./life-commands";
import { disagreements, questionOf } from "./judges/life-judges";
import type { LifeProfile, Trouble } from "./life-profile";
import { Operator, type OperatorParts, type Verdict } from "./operator";
import { ServiceProcess, type World } from "./service-process";
import { Turnstile } from "./turnstile";
import { UnreliableNetwork } from "./unreliable-network";

const SECOND = 1_000;
const HOUR = 3_600 * SECOND;
const DAY = 24 * HOUR;
const LONGEST_STALL_MS = HOUR / 2;
const START = Date.parse("2026-03-01T12:00:00.000Z");
/** Requests meet on the payments that were made last. */
const MEETING_PLACES = 4;
const MOST_OPEN_CALLS = 24;
/** Rounds of seven hours: more than the schedule has steps, twice over, and more than the slowest gateway takes. */
const QUIET_ROUNDS = 40;
/** In each of them a person ends what can be ended; what waits behind it is next. */
const LAST_LOOKS = 8;
/** When nothing fails any more, the same exception again and again is one that nobody will ever hear of. */
const MOST_REPETITIONS = 3;
const MOST_FAILURES = 10;
const UNKNOWN_HERE = parsePaymentId("00000000-0000-7000-8000-ffffffffffff");
const VERDICTS: readonly [Verdict, ...Verdict[]] = ["moved", "not_moved", "pending"];

/** A mistake, made between the engine and its ports. */
export interface Plant {
  readonly gateway?: (gateway: PaymentGateway & AuthorizationLookup) => PaymentGateway & AuthorizationLookup;
  readonly payments?: (payments: PaymentRepository) => PaymentRepository;
  readonly resolve?: NonNullable<OperatorParts["resolve"]>;
  readonly asking?: NonNullable<HintParts["asking"]>;
}

export interface LifeOptions {
  readonly seed: number;
  readonly steps: number;
  readonly profile: LifeProfile;
  readonly payments: PaymentRepository;
  readonly ledger: GatewayLedger;
  readonly plant?: Plant;
}

export interface LifeResult {
  /** What is wrong, one line each. */
  readonly failures: readonly string[];
  readonly payments: number;
  readonly answers: number;
  readonly kills: number;
  readonly reviews: number;
  /** Of everything that happened: the same seed gives the same one. */
  readonly fingerprint: string;
}

/** Lives many payments at once, lets everything happen to them, and looks at the end whether the money is where it should be. */
export class PaymentLife {
  private readonly random: SeededRandom;
  private readonly turnstile = new Turnstile();
  private readonly gateway: GatewayDealings;
  private readonly network: UnreliableNetwork;
  private readonly operator: Operator;
  private readonly payments: PaymentRepository;
  private readonly world: World;
  private processes: ServiceProcess[];
  private nowMs = START;
  private ids = 0;
  private readonly known: PaymentId[] = [];
  private readonly told: Told[] = [];
  /** How often each question was asked, also of processes that died over it. */
  private readonly asked = new Map<string, number>();
  private readonly failures: string[] = [];
  private readonly repetitions = new Map<string, number>();
  private readonly underWay = new Set<{ readonly process: ServiceProcess; readonly what: string }>();
  private readonly course = createHash("sha256");
  private kills = 0;
  private isQuiet = false;

  constructor(private readonly options: LifeOptions) {
    const { seed, profile, ledger, plant } = options;
    this.random = new SeededRandom(seed);
    const { random, turnstile } = this;
    const clock = { now: () => new Date(this.nowMs) };
    const gateway = new SimulatedGateway({ ledger, clock, timeoutMs: 0, sleep: async () => {} });
    const forgetsKeysAfterMs = (profile.gatewayForgetsAfterHours ?? Infinity) * HOUR;
    // Persons have something to err about only where the gateway gives them much to look at.
    const mood = this.has("persons who err") ? 0.2 : this.has("a gateway of its own mind") ? 0.05 : 0;
    const moodiness = () => (this.isQuiet ? 0 : mood);
    this.gateway = new GatewayDealings({
      gateway,
      ledger,
      now: clock.now,
      random,
      moodiness,
      forgetsKeysAfterMs,
      drawsPictures: this.has("observers"),
    });
    const faultRate = () => this.world.faultRate;
    this.network = new UnreliableNetwork(this.gateway, random, faultRate, this.has("observers"));
    const planted = plant?.payments?.(options.payments) ?? options.payments;
    this.payments = checkedRepository(planted, (what) => this.failures.push(what));
    this.operator = new Operator({
      payments: this.payments,
      gateway: this.gateway,
      ...(plant?.resolve === undefined ? {} : { resolve: plant.resolve }),
    });
    this.world = {
      turnstile,
      random,
      locks: profile.locks,
      faultRate: profile.faultRate,
      payments: this.payments,
      gateway: plant?.gateway?.(this.network) ?? this.network,
      now: clock.now,
      nextId: () => this.nextId(),
    };
    this.processes = Array.from({ length: profile.processes }, () => new ServiceProcess(this.world));
  }

  async run(): Promise<LifeResult> {
    for (let step = 0; step < this.options.steps && !this.isBroken; step += 1) {
      await this.step();
      await this.turnstile.quiet();
    }
    if (!this.isBroken) await this.comeToAnEnd();
    for (const process of this.processes) process.kill();
    const payments = await this.allPayments();
    if (!this.isBroken) {
      const { told, asked, gateway, operator } = this;
      this.failures.push(
        ...(await disagreements(payments, {
          payments: this.payments,
          gateway,
          told,
          asked,
          insisted: operator.insisted,
        })),
      );
    }
    return {
      failures: this.failures,
      payments: payments.length,
      answers: this.told.length,
      kills: this.kills,
      reviews: this.operator.verdicts,
      fingerprint: this.course.digest("hex"),
    };
  }

  /** What went on would say nothing more. */
  private get isBroken(): boolean {
    return this.failures.length >= MOST_FAILURES;
  }

  private has(trouble: Trouble): boolean {
    return this.options.profile.troubles?.includes(trouble) === true;
  }

  private async step(): Promise<void> {
    const luck = this.random.next();
    if (this.turnstile.size > MOST_OPEN_CALLS || luck < 0.6) return this.turnstile.letGo(this.random.next());
    if (luck < 0.78) return this.startRequest();
    if (luck < 0.81 || (luck < 0.82 && !this.has("observers"))) return this.startPass();
    if (luck < 0.82) return this.has("hints") ? this.startHint() : this.startObservation();
    if (luck < 0.84) return this.network.arrive();
    if (luck < 0.92) return this.timePasses();
    if (luck < 0.96) return this.startReview();
    if (luck < 0.97) return this.setClockWrong();
    if (luck < 0.98) return this.killOne();
    if (luck < 0.99) return this.gatewayDealsAlone();
    return this.storeGoesAway();
  }

  private startRequest(): void {
    const process = this.anyProcess();
    const places = this.known.slice(-MEETING_PLACES);
    const isNew = places.length === 0 || this.random.chance(0.02);
    const paymentId = isNew ? null : this.random.pick(places as [PaymentId, ...PaymentId[]]);
    const { wish, times, send } = request(this.random, process, paymentId);
    const question = questionOf(wish);
    this.asked.set(question, (this.asked.get(question) ?? 0) + times);
    this.start(process, "a request", async () => {
      const answer = await send();
      if (!process.isAlive) return;
      const { shown, ...said } = answer;
      this.course.update(JSON.stringify({ ...said, shown: shown?.operationId }));
      this.told.push(answer);
      if (answer.paymentId !== null && !this.known.includes(answer.paymentId))
        this.known.push(answer.paymentId);
    });
  }

  private startPass(process = this.anyProcess(), Pass = this.anyPass()): void {
    this.start(process, Pass.name, async () => {
      const onError = (error: unknown, paymentId: PaymentId) => {
        if (!process.isAlive) return;
        this.notRepeated(`${Pass.name} of payment ${paymentId}: ${String(error)}`);
        // Where no lock keeps two of them apart, one is told that the other was faster.
        if (!(error instanceof VersionConflictError)) this.judge(error, Pass.name);
      };
      await new Pass(process.locks, process.context, onError).execute();
    });
  }

  /** An operator, or a hint of the gateway's, has somebody compare a payment with it. */
  private startObservation(
    process = this.anyProcess(),
    paymentId = this.known.at(-1 - Math.floor(this.random.next() * MEETING_PLACES)),
  ): void {
    if (paymentId === undefined) return;
    this.start(process, "an observation", async () => {
      await new ObservePayment(process.locks, process.context).execute(paymentId, {
        actor: { observer: true },
        lockTimeout: "infinite",
      });
    });
  }

  /** The gateway has something to say, mostly of what happened last; and sometimes of what nobody here knows. */
  private startHint(): void {
    const { news } = this.gateway;
    const latest = news.at(-1 - Math.floor(this.random.next() * MEETING_PLACES));
    const isForeign = latest === undefined || this.random.chance(0.1);
    const paymentId = isForeign ? UNKNOWN_HERE : parsePaymentId(latest);
    const process = this.anyProcess();
    this.start(process, "a hint", async () => {
      await this.follow(process, paymentId);
    });
  }

  private follow(process: ServiceProcess, paymentId: PaymentId): Promise<HintOutcome> {
    const { asking } = this.options.plant ?? {};
    const complain = (what: string) => this.failures.push(what);
    return followHint(process, paymentId, { complain, ...(asking === undefined ? {} : { asking }) });
  }

  /** What is heard again when nothing fails any more is done with at once. */
  private async lastHints(): Promise<void> {
    for (const { facts } of await this.allPayments()) {
      const process = this.anyProcess();
      this.start(process, "a last hint", async () => {
        const outcome = await this.follow(process, facts.id);
        if (outcome !== "done" && !(await this.hasBrokenKey(facts)))
          this.failures.push(`a last hint of payment ${facts.id} is ${outcome}`);
      });
      await this.drain();
    }
  }

  /** There is one about which the gateway never gives an answer. */
  private async hasBrokenKey({ id, operations }: Payment["facts"]): Promise<boolean> {
    for (const operation of operations)
      if ((await this.gateway.state(id, gatewayKey(operation)))?.is === "broken") return true;
    return false;
  }

  private notRepeated(what: string): void {
    if (!this.isQuiet) return;
    const times = (this.repetitions.get(what) ?? 0) + 1;
    this.repetitions.set(what, times);
    if (times === MOST_REPETITIONS) this.failures.push(`again and again: ${what}`);
  }

  private timePasses(): void {
    const beforeMs = this.nowMs;
    this.nowMs += this.random.pick([1, 500, 2_000, 2_000, 3_000, 6_000, 6_000, 6_000, 40_000]);
    if (this.random.chance(0.05)) this.nowMs += this.random.pick([600_000, HOUR]);
    if (this.random.chance(0.006)) this.nowMs += this.random.pick([7 * HOUR, 25 * HOUR, 8 * DAY]);
    if (this.nowMs - beforeMs > LONGEST_STALL_MS) this.staleRequestsEnd();
  }

  /** No gateway that forgets can be protected from a request that took days to leave, so there none does. */
  private staleRequestsEnd(): void {
    if (this.options.profile.gatewayForgetsAfterHours === undefined) return;
    this.network.loseWhatIsLate();
    for (const at of this.processes.keys()) this.kill(at);
  }

  /** Mostly by less than the grace that expiry gives to other clocks. */
  private setClockWrong(): void {
    const process = this.anyProcess();
    process.clockOffsetMs = Math.round(this.random.between(-120, 120)) * SECOND;
    if (!this.has("wrong clocks") || this.random.chance(0.3)) return;
    const offMs = this.random.pick([3 * HOUR, DAY, 20 * DAY, 60 * DAY]);
    process.clockOffsetMs = this.random.chance(0.7) ? offMs : -offMs;
  }

  private killOne(): void {
    this.kill(Math.floor(this.random.next() * this.processes.length));
  }

  private kill(at: number): void {
    this.processes[at]?.kill();
    for (const task of this.underWay) if (task.process === this.processes[at]) this.underWay.delete(task);
    this.processes[at] = new ServiceProcess(this.world);
    this.kills += 1;
  }

  private storeGoesAway(): void {
    if (this.has("a store that goes away")) this.anyProcess().withoutStore = this.random.pick([2, 5, 12]);
  }

  /** Something happens to the money that nobody here has asked for. */
  private async gatewayDealsAlone(): Promise<void> {
    const paymentId = this.known.at(-1 - Math.floor(this.random.next() * MEETING_PLACES));
    if (!this.has("a gateway of its own mind") || paymentId === undefined) return;
    const reference = (await this.payments.find(paymentId))?.payment.facts.authorizationReference ?? null;
    if (reference === null) return;
    switch (this.random.pick(["taken elsewhere", "refund undone", "voids refused"] as const)) {
      case "taken elsewhere":
        return this.gateway.takeElsewhere(paymentId, reference);
      case "refund undone":
        return this.gateway.undoRefund(paymentId, reference);
      case "voids refused":
        return this.gateway.refuseVoids(paymentId, this.random.pick([1, 3]));
    }
  }

  /** Somebody looks at one of the reviews, or at any operation if they err, and decides. */
  private async startReview(): Promise<void> {
    const process = this.anyProcess();
    const { cases, wrong } = await this.operator.list(process);
    this.failures.push(...wrong);
    const errs = this.has("persons who err") && this.random.chance(0.4);
    const chosen = cases[Math.floor(this.random.next() * cases.length)];
    const paymentId = errs && this.random.chance(0.2) ? this.known.at(-1) : chosen?.paymentId;
    if (paymentId === undefined) return;
    const operations = (await this.payments.find(paymentId))?.payment.facts.operations ?? [];
    const operation = operations.find(({ id }) => id === chosen?.operationId) ?? operations.at(-1);
    if (operation === undefined) return;
    const right = await this.operator.rightVerdict(operation, false);
    const outcome = errs ? this.random.pick(VERDICTS) : right;
    const insist = errs && this.random.chance(0.3);
    if (outcome === null) return;
    this.start(process, "a review", () => this.operator.decide(process, operation, outcome, insist));
  }

  private start(process: ServiceProcess, what: string, work: () => Promise<void>): void {
    const task = { process, what };
    this.underWay.add(task);
    work()
      .catch((error: unknown) => {
        if (process.isAlive) this.judge(error, what);
      })
      .finally(() => this.underWay.delete(task));
  }

  private judge(error: unknown, what: string): void {
    if (!isForeseen(error)) {
      this.failures.push(`${what}: ${error instanceof Error ? error.stack : String(error)}`);
    }
  }

  /** Nothing new is asked for, nothing fails any more, clocks are right; what is open is finished, or a person finishes it. */
  private async comeToAnEnd(): Promise<void> {
    await this.drain();
    await this.network.allArrive();
    this.world.faultRate = 0;
    this.isQuiet = true;
    for (const process of this.processes) Object.assign(process, { clockOffsetMs: 0, withoutStore: 0 });
    for (let look = 0; look < LAST_LOOKS && !this.isBroken; look += 1) {
      for (let round = 0; round < QUIET_ROUNDS && (await this.mayChange()); round += 1)
        await this.quietRound();
      await this.nothingIsForgotten();
      if (!(await this.lastLook())) break;
      await this.quietRound();
    }
    if (this.has("hints")) await this.lastHints();
    if (this.has("observers")) await this.lastObservations();
    const { cases, wrong } = await this.operator.list(this.anyProcess());
    this.failures.push(...wrong);
    for (const { operationId } of cases) this.failures.push(`operation ${operationId} is still in review`);
    for (const { what } of this.underWay) this.failures.push(`${what} never ended`);
  }

  private async lastObservations(): Promise<void> {
    for (const { facts } of await this.allPayments()) {
      this.startObservation(this.anyProcess(), facts.id);
      await this.drain();
    }
    for (let look = 0; look < LAST_LOOKS && !this.isBroken && (await this.lastLook()); look += 1)
      await this.quietRound();
  }

  private async quietRound(): Promise<void> {
    this.nowMs += 7 * HOUR;
    for (const process of this.processes) {
      this.startPass(process, ExpireAuthorizations);
      await this.drain();
      this.startPass(process, ReconcileOperations);
      await this.drain();
    }
    await this.network.allArrive();
  }

  /** Something waits for time to pass. */
  private async mayChange(): Promise<boolean> {
    if (this.isBroken) return false;
    if (this.gateway.isUndecided) return true;
    for (const payment of await this.allPayments()) {
      if (payment.facts.status === "authorizing" || payment.facts.status === "authorized") return true;
      const open = openOperationOf(payment);
      if (open === undefined) continue;
      if (!isInReview(open) || open.conflicted) return true;
      if (endsIt(open, await this.gateway.state(payment.facts.id, gatewayKey(open)))) return true;
    }
    return false;
  }

  /** What the gateway has decided is known without a person; what it has not is before one. */
  private async nothingIsForgotten(): Promise<void> {
    for (const payment of await this.allPayments()) {
      const { status, expiresAt } = payment.facts;
      const isLate = this.nowMs - expiresAt.getTime() > DAY;
      const open = openOperationOf(payment);
      const what = `payment ${payment.facts.id}: `;
      const state = open && (await this.gateway.state(payment.facts.id, gatewayKey(open)));
      if (open === undefined) {
        if (isLate && (status === "authorizing" || status === "authorized"))
          this.failures.push(`${what}is ${status} for ever`);
      } else if (open.status !== "needs_review") {
        this.failures.push(
          `${what}${open.kind} ${open.id} is ${open.status} for ever; at the gateway: ${state?.is}`,
        );
      } else if (!open.conflicted && endsIt(open, state)) {
        this.failures.push(`${what}${open.kind} ${open.id} is in review, and the gateway is never asked`);
      }
    }
  }

  /** Resolves with whether there was anything to decide. */
  private async lastLook(): Promise<boolean> {
    const process = this.anyProcess();
    const { cases, wrong } = await this.operator.list(process);
    this.failures.push(...wrong);
    for (const { paymentId, operationId } of cases) {
      const stored = await this.payments.find(paymentId);
      const operation = stored && operationOf(stored.payment, operationId);
      if (operation === null || operation === undefined) continue;
      this.start(process, "a last review", async () => {
        const refusals = await this.operator.bringToAnEnd(process, operation);
        const isWaiting = refusals.some((refusal) => refusal.includes("in_progress"));
        if (refusals.length > 0 && !isWaiting)
          this.failures.push(
            `review of ${operation.kind} ${operationId} cannot be ended: ${refusals.join(", ")}`,
          );
      });
      await this.drain();
    }
    return cases.length > 0;
  }

  private async drain(): Promise<void> {
    await this.turnstile.quiet();
    while (this.turnstile.size > 0) {
      this.turnstile.letGo(this.random.next());
      await this.turnstile.quiet();
    }
  }

  private async allPayments(): Promise<Payment[]> {
    const all: Payment[] = [];
    let cursor: string | null | undefined;
    do {
      const page = await this.options.payments.list({
        merchant,
        limit: 100,
        ...(typeof cursor === "string" ? { cursor } : {}),
      });
      all.push(...page.data);
      cursor = page.nextCursor;
    } while (cursor !== null);
    return all;
  }

  private anyProcess(): ServiceProcess {
    return this.random.pick(this.processes as [ServiceProcess, ...ServiceProcess[]]);
  }

  private anyPass(): typeof ReconcileOperations | typeof ExpireAuthorizations {
    return this.random.pick([ReconcileOperations, ReconcileOperations, ExpireAuthorizations]);
  }

  /** Version 7 in form; in order, so that nothing depends on real chance. */
  private nextId(): string {
    this.ids += 1;
    return `00000000-0000-7000-8000-${this.ids.toString(16).padStart(12, "0")}`;
  }
}

/** A contradiction, and a release that is refused, are before a person because of what the gateway says. */
function endsIt(operation: Operation, state: LedgerState | undefined): boolean {
  if (state?.is !== "recorded" || state.answer.outcome === "mismatch") return false;
  return !(isRelease(operation) && state.answer.outcome === "declined");
}
