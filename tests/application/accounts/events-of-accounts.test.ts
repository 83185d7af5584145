import { CatchUp } from "../../../src/application/gateway-events/catch-up";
import { FollowHint } from "../../../src/application/gateway-events/follow-hint";
import { catchUpLimits, hintLimits } from "../../../src/application/gateway-events/hint-limits";
import type { HintObserver, HintOutcome } from "../../../src/application/gateway-events/hint-observer";
import { WorkOnHints } from "../../../src/application/gateway-events/work-on-hints";
import type { GatewayHint } from "../../../src/application/ports/gateway-events/gateway-hint";
import { ObservePayment } from "../../../src/application/use-cases/observe-payment";
import type { PaymentId } from "../../../src/domain/identifiers";
import { InMemoryHintStore } from "../../../src/infrastructure/persistence/memory/in-memory-hint-store";
import { startStripe, type StripeUnderTest } from "../../contracts/payment-gateways/stripe-gateway-harness";
import type { StripeWorld } from "../../support/stripe-stand-in/stripe-world";
import { describeOnEveryStore } from "../../support/worlds/every-store";
import { codeOf, type PaymentsWorld } from "../../support/worlds/payments-world";

const CONNECTED = "acct_connected";
const OWN = "acct_own";
const KEY = "sk_test_own";
const CARD = "pm_card_visa";
const EVERY_MS = 300_000;
const HOUR_MS = 3_600_000;
const MONTH_SECONDS = 30 * 86_400;

describeOnEveryStore("events of merchants' accounts", (open) => {
  let stripe: StripeUnderTest;
  let world: PaymentsWorld;
  let hints: InMemoryHintStore;
  let work: WorkOnHints;
  let catchUp: CatchUp;
  let outcomes: HintOutcome[];
  let failures: unknown[];
  let worlds: Record<"common" | "connected" | "own", StripeWorld>;

  beforeEach(async () => {
    world = await open();
    stripe = await startStripe(async (account) => (account === OWN ? KEY : null));
    const { standIn } = stripe;
    worlds = { common: standIn.world, connected: standIn.connect(CONNECTED), own: standIn.own(OWN, KEY) };
    for (const [name, one] of Object.entries(worlds)) {
      one.events.label = name;
      one.events.now = () => world.clock.now().getTime();
      one.captureBefore = Math.floor(world.clock.now().getTime() / 1_000) + MONTH_SECONDS;
    }
    const { context, locks, clock, merchantAccounts } = world;
    Object.assign(context, { gateway: stripe.gateway, accounts: merchantAccounts });
    outcomes = [];
    failures = [];
    const observer: HintObserver = {
      received: () => {},
      worked: (outcome) => outcomes.push(outcome),
      dropped: () => {},
      droppedBeyondLimit: () => {},
      failed: (error) => failures.push(error),
    };
    hints = new InMemoryHintStore(() => clock.now().getTime());
    work = new WorkOnHints({
      store: hints,
      followHint: new FollowHint(locks, context, new ObservePayment(locks, context)),
      clock,
      monotonicMs: () => clock.now().getTime(),
      ids: context.ids,
      observer,
      limits: hintLimits,
    });
    const { eventList: events } = stripe.gateway;
    catchUp = new CatchUp({
      events,
      store: hints,
      accounts: merchantAccounts,
      clock,
      observer,
      limits: catchUpLimits,
      onAccepted: () => {},
    });
  });
  afterEach(() => stripe.stop());

  const use = async (account: string | null) => {
    const { merchant, merchantAccounts, clock } = world;
    if (account === null) await merchantAccounts.unset(merchant);
    else await merchantAccounts.set({ merchant, account, setAt: clock.now() });
  };
  const statusOf = async (id: PaymentId) => (await world.payment(id)).facts.status;
  const referenceOf = async (id: PaymentId) => (await world.payment(id)).facts.authorizationReference ?? "";
  /** A payment whose capture was made, and whose answer was lost. */
  const lostCaptureIn = async (account: string | null) => {
    await use(account);
    const id = await world.authorize(CARD, 1_000n, MONTH_SECONDS);
    stripe.standIn.arm("capture", "silent_after_acting");
    expect(await codeOf(world.capture(id, "c"))).toBe("unknown");
    return id;
  };
  const read = async () => {
    const report = await catchUp.execute(EVERY_MS);
    await work.drain();
    return report;
  };
  const follow = async (hint: GatewayHint) => {
    expect(await hints.receive([hint], world.clock.now())).toBe(1);
    const asked = stripe.standIn.requests.length;
    await work.drain();
    return stripe.standIn.requests.slice(asked);
  };

  it("a day without webhooks is caught up in every account, and nothing is sent", async () => {
    await use(CONNECTED);
    await use(OWN);
    await read();
    const lost: PaymentId[] = [];
    for (let hour = 0; hour < 24; hour += 1) {
      if (hour % 8 === 0)
        for (const account of [null, CONNECTED, OWN]) lost.push(await lostCaptureIn(account));
      world.clock.advance(HOUR_MS);
    }
    // Nobody has this account any more: payments are in it nevertheless.
    await use(null);
    const before = stripe.standIn.requests.length;
    await read();
    expect(new Set(await Promise.all(lost.map(statusOf)))).toEqual(new Set(["captured"]));
    expect(stripe.standIn.requests.slice(before).filter((one) => one.startsWith("POST"))).toEqual([]);
    expect((await hints.backlog()).waiting).toBe(0);
    expect(failures).toEqual([]);
  });

  it("each list is read on from where it was read to, and an account's first reading begins when it was set", async () => {
    const pages = jest.spyOn(stripe.gateway.eventList, "page");
    await use(OWN);
    const setAt = world.clock.now();
    world.clock.advance(5 * HOUR_MS);
    const id = await lostCaptureIn(OWN);
    await read();
    expect(await statusOf(id)).toBe("captured");
    const ofOwn = () => pages.mock.calls.map(([query]) => query).filter(({ account }) => account === OWN);
    expect(ofOwn().map(({ since }) => since)).toEqual([setAt]);
    world.clock.advance(HOUR_MS);
    await read();
    const [, second] = ofOwn();
    expect(second!.since.getTime()).toBe(setAt.getTime() + 5 * HOUR_MS - 600_000);
  });

  it("an account whose list cannot be read keeps no other one from being read, and is made good later", async () => {
    await use("acct_disconnected");
    await use(OWN);
    const id = await lostCaptureIn(OWN);
    expect(await read()).toMatchObject({ failed: 1 });
    expect(await statusOf(id)).toBe("captured");
    expect(String(failures[0])).toContain("acct_disconnected: account_invalid");
    expect(await hints.caughtUpTo("acct_disconnected")).toBeNull();
    const back = stripe.standIn.connect("acct_disconnected");
    back.events.label = "back";
    back.events.now = () => world.clock.now().getTime();
    world.clock.advance(EVERY_MS);
    expect(await read()).toMatchObject({ failed: 0 });
    expect(await hints.caughtUpTo("acct_disconnected")).not.toBeNull();
  });

  it("what the list of the common account cannot do, the others still do", async () => {
    const id = await lostCaptureIn(OWN);
    stripe.standIn.arm("read", "error_before_acting");
    await expect(read()).rejects.toThrow("does not list its events");
    await work.drain();
    expect(await statusOf(id)).toBe("captured");
  });

  it("an event of one account about a payment of another one asks nothing and changes nothing", async () => {
    const id = await lostCaptureIn(OWN);
    const reference = await referenceOf(id);
    const events = [
      { eventId: "evt_a", reference, labelled: null },
      { eventId: "evt_b", reference, labelled: id, account: CONNECTED },
      { eventId: "evt_c", reference: "pi_of_others", labelled: id, account: CONNECTED },
    ];
    for (const event of events) expect(await follow(event)).toEqual([]);
    expect(outcomes).toEqual(["foreign", "foreign", "foreign"]);
    expect((await world.payment(id)).facts.operations.at(-1)?.status).toBe("unknown");
    expect((await hints.backlog()).waiting).toBe(0);
    await follow({ eventId: "evt_d", reference, labelled: null, account: OWN });
    expect(await statusOf(id)).toBe("captured");
  });

  it("an operator reads all lists, one after the other, and hears which could not be read", async () => {
    await use("acct_disconnected");
    const ids = [await lostCaptureIn(null), await lostCaptureIn(CONNECTED), await lostCaptureIn(OWN)];
    const since = new Date(world.clock.now().getTime() - HOUR_MS);
    const pages = [];
    let cursor: string | null = null;
    do {
      const page: Awaited<ReturnType<CatchUp["page"]>> = await catchUp.page(since, cursor);
      pages.push({ account: page.account, unread: page.unread !== undefined, accepted: page.accepted > 0 });
      cursor = page.next;
    } while (cursor !== null);
    expect(pages).toEqual([
      { account: null, unread: false, accepted: true },
      { account: CONNECTED, unread: false, accepted: true },
      { account: "acct_disconnected", unread: true, accepted: false },
      { account: OWN, unread: false, accepted: true },
    ]);
    await work.drain();
    expect(await Promise.all(ids.map(statusOf))).toEqual(["captured", "captured", "captured"]);
  });
});
