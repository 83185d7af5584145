import { setTimeout as pause } from "node:timers/promises";
import { HoldfastProcess } from "../../support/program/holdfast-process";
import { quickRequest } from "../../support/program/quick-request";
import { signed, WEBHOOK_SECRET } from "../../support/stripe-stand-in/signed-event";
import type { StripeEvent } from "../../support/stripe-stand-in/stripe-events";
import { StripeStandIn } from "../../support/stripe-stand-in/stripe-stand-in";
import type { ToldEvent } from "../../support/told-events";
import type { Arrivals } from "../crash-point";
import { post, type Answer, type CrashPrograms, type Event } from "../crash-run";
import type { CrashingServerOptions } from "../crashing-server";
import { cellsOf, inProcesses, type HintCell, type HintCrash, type Way } from "./hint-crashes";
import { AMOUNT, REFUNDED, situations, type Situation } from "./hint-situations";

/** Events of the list are that old: older than what is read again of it in any case. */
const LISTED_AGO_MS = 30 * 60_000;
/** The clocks of those that die: what they have lent is due at once for the one that goes on. */
const BEHIND_MS = 20_000;
/** Far more often than it takes. */
const MAX_LOOKS = 160;
const BETWEEN_LOOKS_MS = 250;
const MOST_PAGES = 5;
/** One event after the other, none of which waits for the answer to the one before. */
const BETWEEN_EVENTS_MS = 20;

export interface HintRun {
  readonly store: string;
  readonly folder: string;
  readonly programs: CrashPrograms;
  readonly crashes: readonly HintCrash[];
}

/** A payment when nothing is left to follow, by us and by Stripe. */
export interface HintOutcome {
  // What a server sent is not known before it was looked at.
  // eslint-disable-next-line @typescript-eslint/no-explicit-any
  readonly payment: any;
  readonly events: readonly Event[];
  readonly told: readonly ToldEvent[];
  readonly captured: number;
  readonly refunded: number;
  /** The same key twice more; empty where a key was never sent. */
  readonly again: readonly Answer[];
  /** Requests that moved, or could have moved, money, since Stripe began to hint. */
  readonly sentToStripe: readonly string[];
}

interface Lived {
  readonly cell: HintCell;
  readonly paymentId: string;
  readonly reference: string;
  readonly keys: readonly { readonly path: string; readonly key: string; readonly body: object }[];
}

export async function runHintCrashes(run: HintRun): Promise<Map<string, HintOutcome>> {
  const stripe = new StripeStandIn();
  await stripe.listen();
  try {
    return await new HintCrashRun(run, stripe).execute();
  } finally {
    await stripe.close();
  }
}

class HintCrashRun {
  private readonly lived: Lived[] = [];
  private readonly unacknowledged: StripeEvent[] = [];
  /** Of those that do not die: with the one that goes on after the webhooks happens what the list is then to tell of. */
  private living: HoldfastProcess | undefined;

  constructor(
    private readonly run: HintRun,
    private readonly stripe: StripeStandIn,
  ) {}

  async execute(): Promise<Map<string, HintOutcome>> {
    const outcomes = new Map<string, HintOutcome>();
    try {
      for (const way of ["by a webhook", "by the list"] as const) {
        const crashes = this.run.crashes.filter((crash) => crash.way === way);
        if (crashes.length === 0) continue;
        await this.prepare(cellsOf(crashes), way);
        const before = this.stripe.requests.length;
        for (const together of inProcesses(crashes)) await this.dieAt(together);
        for (const [name, outcome] of await this.goOn(way, before)) outcomes.set(name, outcome);
      }
      return outcomes;
    } finally {
      await this.living?.end("SIGKILL");
    }
  }

  private crashing(options: Partial<CrashingServerOptions>, way: Way): HoldfastProcess {
    const { store, folder, programs } = this.run;
    const catchUp = way === "by the list" ? "1" : "0";
    const whole: CrashingServerOptions = {
      store,
      behindMs: 0,
      passInterval: 0,
      flags: { gateway: "stripe:", "stripe-url": this.stripe.url, "gateway-catch-up": catchUp },
      environment: { STRIPE_API_KEY: "sk_test_abc", HOLDFAST_STRIPE_WEBHOOK_SECRETS: WEBHOOK_SECRET },
      ...options,
    };
    return new HoldfastProcess([programs.crashing, JSON.stringify(whole)], { cwd: folder });
  }

  /** Everything happens, and nobody is told. */
  private async prepare(cells: readonly HintCell[], way: Way): Promise<void> {
    const { stripe } = this;
    stripe.world.events.now = () => Date.now() - (way === "by the list" ? LISTED_AGO_MS : 0);
    this.lived.length = 0;
    this.living ??= this.crashing({}, "by a webhook");
    const url = await this.living.url();
    for (const cell of cells) this.lived.push(await this.live(url, cell));
    stripe.timePasses();
    for (const { cell, reference } of this.lived) {
      const { inTheDashboard }: Situation = situations[cell.situation];
      if (inTheDashboard === "captured") stripe.world.captureInDashboard(reference);
      if (inTheDashboard === "refunded") stripe.world.refundInDashboard(reference, REFUNDED);
      if (inTheDashboard === "disputed") stripe.world.dispute(reference);
    }
    await this.living.end("SIGKILL");
  }

  private async live(url: string, cell: HintCell): Promise<Lived> {
    const keys: Lived["keys"][number][] = [];
    let paymentId = "";
    for (const { kind, fault } of (situations[cell.situation] as Situation).requests) {
      if (fault !== undefined) this.stripe.arm(kind, fault);
      const key = `${cell.name} ${keys.length}`.replace(/[^a-z0-9]+/gi, "-");
      const card = { amount: AMOUNT, currency: "EUR", paymentMethod: "pm_card_visa" };
      const request = {
        authorize: { path: "/payments", body: card },
        capture: { path: `/payments/${paymentId}/capture`, body: {} },
        refund: { path: `/payments/${paymentId}/refunds`, body: { amount: REFUNDED } },
      }[kind];
      keys.push({ ...request, key });
      const { status, body } = await post(url + request.path, request.body, keyed(key));
      if (status !== (fault === undefined || fault === "fails_later" ? 201 : 202))
        throw new Error(`${cell.name}: ${kind} was answered ${status} ${JSON.stringify(body)}`);
      paymentId = (body.payment?.id ?? body.paymentId) as string;
    }
    const intents = [...this.stripe.world.intents.values()];
    const reference = intents.find(({ metadata }) => metadata["holdfast_payment"] === paymentId)?.id ?? "";
    return { cell, paymentId, reference, keys };
  }

  /** All of these are told in one way, and have a mistake in common, if there is one. */
  private async dieAt(together: readonly HintCrash[]): Promise<void> {
    const { way, mistake } = together[0]!;
    const crash = together.map((one) => this.arrivalsAt(one));
    const options = { behindMs: BEHIND_MS, crash, ...(mistake === undefined ? {} : { mistake }) };
    const running = this.crashing(options, way);
    const url = await running.url();
    if (way === "by a webhook") {
      const told = this.lived.filter(({ cell }) => together.includes(cell.crash));
      await this.deliver(
        url,
        told.map((one) => this.lastEventOf(one)),
      );
    }
    const { signal, stdout, stderr } = await running.ended;
    const points = together.map(({ point }) => point).join(", ");
    if (signal !== "SIGKILL" || !stdout.includes(`crashing ${points}\n`))
      throw new Error(`it did not die ${points}: ${signal} ${stdout} ${stderr}`);
  }

  private arrivalsAt(crash: HintCrash): Arrivals {
    const { point, way, together } = crash;
    const of = this.lived.filter(({ cell }) => cell.crash === crash);
    const only = way === "by the list" && point.endsWith("receive") ? undefined : namesOf(of, point);
    return { point, arrivals: together ? of.length : 1, ...(only === undefined ? {} : { only }) };
  }

  /** What is not acknowledged, Stripe sends again. */
  private async deliver(url: string, events: readonly StripeEvent[]): Promise<void> {
    const answers: Promise<void>[] = [];
    for (const event of events) {
      const { body, signature } = signed(event);
      const answer = quickRequest(`${url}/gateway-events/stripe`, {
        headers: { "stripe-signature": signature },
        body,
      });
      const isKept = answer.then(
        ({ status }) => status === 200,
        () => false,
      );
      answers.push(isKept.then((kept) => void (kept || this.unacknowledged.push(event))));
      await pause(BETWEEN_EVENTS_MS);
    }
    await Promise.all(answers);
  }

  private lastEventOf({ reference }: Lived): StripeEvent {
    const about = (object: object) => {
      const { id, payment_intent: intent } = object as { id?: string; payment_intent?: string };
      return id === reference || intent === reference;
    };
    const event = this.stripe.world.events.all.findLast(({ data }) => about(data.object));
    if (event === undefined) throw new Error(`nothing happened to ${reference}`);
    return event;
  }

  /** The ordinary program, until there is nothing left to follow; then a person, and then each key once more. */
  private async goOn(way: Way, before: number): Promise<[string, HintOutcome][]> {
    this.living = this.crashing({}, way);
    const url = await this.living.url();
    await this.deliver(url, this.unacknowledged.splice(0));
    if (way === "by the list") await this.untilListIsRead();
    await until("no hint is left", async () => (await metricsOf(url)).includes("holdfast_hints_waiting 0"));
    for (const one of this.lived) await this.decide(url, one);
    return Promise.all(
      this.lived.map(async (one): Promise<[string, HintOutcome]> => [
        one.cell.name,
        await this.outcomeOf(url, one, before),
      ]),
    );
  }

  /** More often than one reading of it has pages. */
  private async untilListIsRead(): Promise<void> {
    const readings = () => this.stripe.requests.filter((request) => request === "GET /v1/events").length;
    const before = readings();
    await until("the list was read", async () => readings() > before + MOST_PAGES);
  }

  /** A person has looked at the dashboard: it was not our capture. Then everything is as the gateway shows it. */
  private async decide(url: string, { cell, paymentId }: Lived): Promise<void> {
    if (!("isReviewed" in situations[cell.situation])) return;
    const { data } = await get<{ data: readonly Event[] }>(`${url}/payments/${paymentId}/events`);
    const review = data.find(({ type }) => type === "operation.needs_review")?.data.operationId;
    if (review === undefined) return;
    await post(`${url}/reviews/${review}`, { outcome: "not_moved", evidence: "captured in the dashboard" });
    await post(`${url}/gateway/payments/${paymentId}/observe`, {});
  }

  private async outcomeOf(
    url: string,
    { paymentId, reference, keys }: Lived,
    before: number,
  ): Promise<HintOutcome> {
    const { payment } = await get<Pick<HintOutcome, "payment">>(`${url}/payments/${paymentId}`);
    const { data: events } = await get<{ data: Event[] }>(`${url}/payments/${paymentId}/events`);
    const { data: told } = await get<{ data: ToldEvent[] }>(`${url}/events?paymentId=${paymentId}`);
    const last = keys.at(-1);
    const again = [];
    for (let n = 0; last !== undefined && n < 2; n += 1)
      again.push(await post(url + last.path, last.body, keyed(last.key)));
    const { world, requests } = this.stripe;
    const refunds = world.refunds.filter(
      (one) => one.payment_intent === reference && one.status !== "failed",
    );
    return {
      payment,
      events,
      told,
      captured: world.intents.get(reference)?.amount_received ?? 0,
      refunded: refunds.reduce((sum, { amount }) => sum + amount, 0),
      again,
      sentToStripe: requests.slice(before).filter((request) => request.startsWith("POST")),
    };
  }
}

/** A page of the list is nobody's. */
function namesOf(of: readonly Lived[], point: string): readonly (readonly string[])[] | undefined {
  if (/ (list|position)$/.test(point)) return undefined;
  return of.map(({ paymentId, reference }) => [paymentId, reference]);
}

async function until(what: string, isSo: () => Promise<boolean>): Promise<void> {
  for (let look = 0; look < MAX_LOOKS; look += 1) {
    if (await isSo()) return;
    await pause(BETWEEN_LOOKS_MS);
  }
  throw new Error(`never: ${what}`);
}

async function metricsOf(url: string): Promise<string> {
  return (await quickRequest(`${url}/metrics`)).text;
}

async function get<T>(url: string): Promise<T> {
  const answer = await quickRequest(url);
  if (answer.status !== 200) throw new Error(`${url}: ${answer.status} ${answer.text}`);
  return JSON.parse(answer.text) as T;
}

const keyed = (key: string) => ({ "idempotency-key": key });
