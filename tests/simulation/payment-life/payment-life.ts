import { createHash } from "node:crypto";
import type { PaymentGateway } from "../../../src/application/ports/payment-gateway";
import {
  VersionConflictError,
  type PaymentRepository,
} from "../../../src/application/ports/payment-repository";
import { ExpireAuthorizations } from "../../../src/application/use-cases/expire-authorizations";
import { ReconcileOperations } from "../../../src/application/use-cases/reconcile-operations";
import { ReviewOperations } from "../../../src/application/use-cases/review-operations";
import type { OperationId, PaymentId } from "../../../src/domain/identifiers";
import type { Payment } from "../../../src/domain/payment";
import type { ReviewVerdict } from "../../../src/domain/payment-facts";
import type { GatewayLedger } from "../../../src/infrastructure/gateways/simulated/gateway-ledger";
import { SimulatedGateway } from "../../../src/infrastructure/gateways/simulated/simulated-gateway";
import { SeededRandom } from "../lease/seeded-random";
import { isForeseen, merchant, request, type Told } from "./life-commands";
import type { LifeProfile } from "./life-profile";
import { disagreements, isAskedForEver, stateOf } from "./money-agreement";
import { ServiceProcess, type World } from "./service-process";
import { Turnstile } from "./turnstile";
import { UnreliableNetwork } from "./unreliable-network";

const SECOND = 1_000;
const HOUR = 3_600 * SECOND;
const START = Date.parse("2026-03-01T12:00:00.000Z");
/** Requests meet on the payments that were made last. */
const MEETING_PLACES = 4;
/** More rounds of seven hours than the schedule has steps, twice over. */
const LAST_ROUNDS = 40;
const MOST_OPEN_CALLS = 24;

export interface LifeOptions {
  readonly seed: number;
  readonly steps: number;
  readonly profile: LifeProfile;
  readonly payments: PaymentRepository;
  readonly ledger: GatewayLedger;
  /** A mistake between us and the gateway, for the simulation to find. */
  readonly plant?: (gateway: PaymentGateway) => PaymentGateway;
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
  private readonly gateway: SimulatedGateway;
  private readonly network: UnreliableNetwork;
  private readonly world: World;
  private processes: ServiceProcess[];
  private nowMs = START;
  private ids = 0;
  private readonly known: PaymentId[] = [];
  private readonly told: Told[] = [];
  private readonly failures: string[] = [];
  private readonly underWay = new Set<{ readonly process: ServiceProcess; readonly what: string }>();
  private readonly course = createHash("sha256");
  private kills = 0;
  private reviews = 0;

  constructor(private readonly options: LifeOptions) {
    const { seed, profile, payments, ledger } = options;
    this.random = new SeededRandom(seed);
    const clock = { now: () => new Date(this.nowMs) };
    this.gateway = new SimulatedGateway({ ledger, clock, timeoutMs: 0, sleep: async () => {} });
    const { gatewayForgetsAfterHours: hours } = profile;
    if (hours !== undefined) Object.assign(this.gateway, { remembersKeysForMs: hours * HOUR });
    this.network = new UnreliableNetwork(this.gateway, this.random, profile.faultRate);
    this.world = {
      turnstile: this.turnstile,
      random: this.random,
      profile,
      payments,
      gateway: options.plant?.(this.network) ?? this.network,
      now: clock.now,
      nextId: () => this.nextId(),
    };
    this.processes = Array.from({ length: profile.processes }, () => new ServiceProcess(this.world));
  }

  async run(): Promise<LifeResult> {
    for (let step = 0; step < this.options.steps && this.failures.length === 0; step += 1) {
      await this.step();
      await this.turnstile.quiet();
    }
    if (this.failures.length === 0) await this.comeToAnEnd();
    for (const process of this.processes) process.kill();
    const payments = await this.allPayments();
    for (const payment of payments) {
      await this.gateway.moves(payment.id);
      const answers = this.told.filter(({ paymentId }) => paymentId === payment.id);
      this.failures.push(...(await disagreements(payment, this.options.ledger, answers)));
    }
    return {
      failures: this.failures,
      payments: payments.length,
      answers: this.told.length,
      kills: this.kills,
      reviews: this.reviews,
      fingerprint: this.course.digest("hex"),
    };
  }

  private async step(): Promise<void> {
    const luck = this.random.next();
    if (this.turnstile.size > MOST_OPEN_CALLS || luck < 0.6) return this.turnstile.letGo(this.random.next());
    if (luck < 0.78) return this.startRequest();
    if (luck < 0.84) return this.startPass();
    if (luck < 0.86) return this.network.arrive();
    if (luck < 0.95) return this.timePasses();
    if (luck < 0.97) return this.startReview(false);
    if (luck < 0.98) return this.setClockWrong();
    if (luck < 0.99) return this.killOne();
  }

  private startRequest(): void {
    const process = this.random.pick(this.processes as [ServiceProcess, ...ServiceProcess[]]);
    const places = this.known.slice(-MEETING_PLACES);
    const isNew = places.length === 0 || this.random.chance(0.1);
    const paymentId = isNew ? null : this.random.pick(places as [PaymentId, ...PaymentId[]]);
    this.start(process, "a request", async () => {
      const answer = await request(this.random, process, paymentId);
      this.course.update(JSON.stringify(answer));
      this.told.push(answer);
      if (answer.paymentId !== null && !this.known.includes(answer.paymentId))
        this.known.push(answer.paymentId);
    });
  }

  private startPass(): void {
    const process = this.random.pick(this.processes as [ServiceProcess, ...ServiceProcess[]]);
    const Pass = this.random.pick([ReconcileOperations, ReconcileOperations, ExpireAuthorizations]);
    this.start(process, Pass.name, async () => {
      const onError = (error: unknown) => {
        // Where no lock keeps two of them apart, one is told that the other was faster.
        if (!(error instanceof VersionConflictError)) this.judge(error, Pass.name);
      };
      await new Pass(process.context, onError).execute();
    });
  }

  private timePasses(): void {
    this.nowMs += this.random.pick([1, 500, 2_000, 2_000, 3_000, 6_000, 6_000, 6_000, 40_000, 600_000, HOUR]);
    if (this.random.chance(0.05)) this.nowMs += this.random.pick([7 * HOUR, 25 * HOUR, 8 * 24 * HOUR]);
  }

  /** Forward or back, by less than the grace that expiry gives to other clocks. */
  private setClockWrong(): void {
    const process = this.random.pick(this.processes as [ServiceProcess, ...ServiceProcess[]]);
    process.clockOffsetMs = Math.round(this.random.between(-120, 120)) * SECOND;
  }

  private killOne(): void {
    const at = Math.floor(this.random.next() * this.processes.length);
    this.processes[at]?.kill();
    for (const task of this.underWay) if (task.process === this.processes[at]) this.underWay.delete(task);
    this.processes[at] = new ServiceProcess(this.world);
    this.kills += 1;
  }

  /** A person decides what the gateway's books show. Only in the end do missing entries say anything. */
  private startReview(isLast: boolean): void {
    const process = this.random.pick(this.processes as [ServiceProcess, ...ServiceProcess[]]);
    this.start(process, "a review", async () => {
      const { data } = await this.options.payments.operationsInReview({ limit: 50 });
      for (const { paymentId, operationId } of data) {
        const verdict = await this.seenAtTheGateway(paymentId, operationId, isLast);
        if (verdict === null) continue;
        const actor = { key: "operator" };
        await new ReviewOperations(process.context).resolve(operationId, verdict, { actor });
        this.reviews += 1;
      }
    });
  }

  private async seenAtTheGateway(
    paymentId: PaymentId,
    operationId: OperationId,
    isLast: boolean,
  ): Promise<ReviewVerdict | null> {
    const operation = (await this.options.payments.find(paymentId))?.payment.operation(operationId);
    if (operation === undefined) return null;
    // Looked at through the gateway, so that what is due has landed.
    await this.gateway.moves(paymentId);
    const state = await stateOf(this.options.ledger, paymentId, operation);
    const evidence = `the gateway's books: ${state?.is ?? "nothing"}`;
    if (state?.is === "recorded" && state.answer.outcome === "succeeded") {
      return { outcome: "moved", evidence, gatewayReference: state.answer.reference };
    }
    const isCertain = state?.is === "recorded" || state?.is === "broken" || isLast;
    return isCertain ? { outcome: "not_moved", evidence, gatewayReference: null } : null;
  }

  private start(process: ServiceProcess, what: string, work: () => Promise<void>): void {
    const task = { process, what };
    this.underWay.add(task);
    work()
      .catch((error: unknown) => this.judge(error, what))
      .finally(() => this.underWay.delete(task));
  }

  private judge(error: unknown, what: string): void {
    if (!isForeseen(error)) {
      this.failures.push(`${what}: ${error instanceof Error ? error.stack : String(error)}`);
    }
  }

  /** Nothing new is asked for, nobody dies any more; what is open is finished, or a person finishes it. */
  private async comeToAnEnd(): Promise<void> {
    await this.drain();
    await this.network.allArrive();
    for (let round = 0; round < LAST_ROUNDS && (await this.isAnythingOpen()); round += 1) {
      this.nowMs += 7 * HOUR;
      for (const process of this.processes) process.clockOffsetMs = 0;
      this.startPass();
      this.startPass();
      await this.drain();
      await this.network.allArrive();
      if (round % 4 === 3) this.startReview(true);
      await this.drain();
    }
    for (const { what } of this.underWay) this.failures.push(`${what} never ended`);
  }

  private async drain(): Promise<void> {
    await this.turnstile.quiet();
    while (this.turnstile.size > 0) {
      this.turnstile.letGo(this.random.next());
      await this.turnstile.quiet();
    }
  }

  private async isAnythingOpen(): Promise<boolean> {
    for (const payment of await this.allPayments()) {
      if (payment.openOperation === undefined) continue;
      if (!(await isAskedForEver(this.options.ledger, payment.openOperation))) return true;
    }
    return false;
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

  /** Version 7 in form; in order, so that nothing depends on real chance. */
  private nextId(): string {
    this.ids += 1;
    return `00000000-0000-7000-8000-${this.ids.toString(16).padStart(12, "0")}`;
  }
}
