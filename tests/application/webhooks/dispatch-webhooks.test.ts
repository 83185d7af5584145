import { anAct } from "../../support/an-act";
import { randomUUID } from "node:crypto";
import { Webhook } from "standardwebhooks";
import { webhookLimits, type WebhookLimits } from "../../../src/application/webhooks/webhook-limits";
import { DispatchWebhooks } from "../../../src/application/webhooks/dispatch-webhooks";
import { answered, ACME, WebhookWorld } from "../../support/worlds/webhook-world";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

describe("delivering webhooks", () => {
  let world: WebhookWorld;
  beforeEach(() => {
    world = new WebhookWorld();
  });
  afterEach(() => {
    expect(world.failures).toEqual([]);
  });

  it("gives each endpoint the events that it wants, of its merchant, from its beginning on, once", async () => {
    world.publish();
    const all = await world.endpoint();
    const captures = await world.endpoint({ types: ["payment.captured"] });
    const none = await world.endpoint({ types: [] });
    const other = await world.endpoint({ merchant: "other" });
    const [captured, voided] = [world.publish("payment.captured"), world.publish("payment.voided")];
    const theirs = world.publish("payment.captured", randomUUID(), "other");
    await world.dispatch.drain();
    await world.dispatch.drain();
    const received = (url: string) => world.receivers.to(url).map(({ id }) => id);
    expect(received(all.url)).toEqual([captured, voided]);
    expect(received(captures.url)).toEqual([captured]);
    expect(received(none.url)).toEqual([]);
    expect(received(other.url)).toEqual([theirs]);
  });

  it("sends the public event, signed", async () => {
    const { url, secret } = await world.endpoint();
    const id = world.publish("payment.captured");
    await world.dispatch.drain();
    const { body, headers } = world.receivers.to(url)[0]!;
    expect(new Webhook(secret).verify(body, { ...headers })).toMatchObject({
      id,
      type: "payment.captured",
      timestamp: world.clock.now().toISOString(),
      data: { sequence: 1, operation: null },
    });
  });

  it("keeps id and body at each of ten attempts, then gives up", async () => {
    const { endpoint, url } = await world.endpoint();
    world.receivers.answer(url, () => answered(500));
    const id = world.publish();
    await world.advance(4 * DAY_MS);
    const sent = world.receivers.to(url);
    expect(sent).toHaveLength(10);
    expect(new Set(sent.map((one) => `${one.id} ${one.body}`)).size).toBe(1);
    const hours = sent.map(({ at }) => (at.getTime() - sent[0]!.at.getTime()) / HOUR_MS);
    expect(hours.map((at) => Math.round(at * 10) / 10)).toEqual([
      0, 0, 0.1, 0.6, 2.6, 7.6, 17.6, 31.6, 51.6, 75.6,
    ]);
    expect(await world.all(endpoint)).toMatchObject([{ eventId: id, status: "failed", attempts: 10 }]);
  });

  it("holds a payment's next event back until the one before is delivered, and no other payment's", async () => {
    const { url } = await world.endpoint();
    const payment = randomUUID();
    let isDown = true;
    world.receivers.answer(url, () => answered(isDown ? 503 : 200));
    const first = world.publish("payment.authorized", payment);
    const second = world.publish("payment.captured", payment);
    await world.dispatch.drain();
    const other = world.publish("payment.authorized");
    await world.dispatch.drain();
    expect(world.receivers.to(url).map(({ id }) => id)).toEqual([first, other]);
    isDown = false;
    await world.advance(5_000);
    expect(world.receivers.to(url).map(({ id }) => id)).toEqual([first, other, first, other, second]);
  });

  it("lets a payment's next event go when the one before has used up its schedule", async () => {
    const { url } = await world.endpoint();
    const payment = randomUUID();
    const first = world.publish("payment.authorized", payment);
    const second = world.publish("payment.captured", payment);
    world.receivers.answer(url, () => answered(world.receivers.sent.at(-1)?.id === first ? 500 : 200));
    await world.advance(4 * DAY_MS);
    expect(world.receivers.to(url).map(({ id }) => id)).toEqual([...Array<string>(10).fill(first), second]);
  });

  it("does not hold anything back where the endpoint wants no order", async () => {
    const { url } = await world.endpoint({ ordered: false });
    const payment = randomUUID();
    world.receivers.answer(url, () => answered(500));
    const ids = [world.publish("payment.authorized", payment), world.publish("payment.captured", payment)];
    await world.dispatch.drain();
    expect(world.receivers.to(url).map(({ id }) => id)).toEqual(ids);
  });

  it("disables an endpoint after five days of nothing but failures, and says so", async () => {
    const { endpoint, url } = await world.endpoint();
    const listener = await world.endpoint({ types: ["webhook_endpoint.disabled"] });
    world.receivers.answer(url, () => answered(500));
    for (let day = 0; day < 6; day += 1) {
      world.publish();
      await world.advance(DAY_MS);
    }
    expect(await world.store.endpoints.find(endpoint.id)).toMatchObject({ disabled: { reason: "failing" } });
    expect(world.disabled).toEqual(["failing"]);
    const [told] = world.receivers.to(listener.url);
    expect(JSON.parse(told?.body ?? "{}")).toMatchObject({
      type: "webhook_endpoint.disabled",
      data: { webhookEndpoint: { id: endpoint.id, url, disabledReason: "failing" } },
    });
    const before = world.receivers.to(url).length;
    world.publish();
    await world.advance(DAY_MS);
    expect(world.receivers.to(url)).toHaveLength(before);
  });

  it("does not disable an endpoint that takes something now and then", async () => {
    const { endpoint, url } = await world.endpoint();
    let attempts = 0;
    world.receivers.answer(url, () => answered((attempts += 1) % 20 === 0 ? 200 : 500));
    for (let day = 0; day < 12; day += 1) {
      world.publish();
      await world.advance(DAY_MS);
    }
    expect(await world.store.endpoints.find(endpoint.id)).toMatchObject({ disabled: null });
  });

  it("disables an endpoint that says it is gone, at once", async () => {
    const { endpoint, url } = await world.endpoint();
    world.receivers.answer(url, () => answered(410));
    world.publish();
    await world.dispatch.drain();
    expect(await world.store.endpoints.find(endpoint.id)).toMatchObject({ disabled: { reason: "gone" } });
    expect(world.receivers.to(url)).toHaveLength(1);
  });

  it("waits as long as a receiver asks, up to twice the step", async () => {
    const { url } = await world.endpoint();
    world.receivers.answer(url, () => answered(429, { retryAfterMs: DAY_MS }));
    world.publish();
    await world.advance(9_999);
    expect(world.receivers.to(url)).toHaveLength(1);
    await world.advance(1);
    expect(world.receivers.to(url)).toHaveLength(2);
  });

  it("signs with both secrets while one takes over from the other, then with the new one alone", async () => {
    const { endpoint, url, secret: old } = await world.endpoint();
    const verified = (by: string) => {
      const { body, headers } = world.receivers.to(url).at(-1)!;
      try {
        new Webhook(by).verify(body, { ...headers });
        return true;
      } catch {
        return false;
      }
    };
    world.publish();
    await world.dispatch.drain();
    expect(verified(old)).toBe(true);
    const { secret: fresh } = await world.endpoints.rotateSecret(endpoint.id, ACME, 3_600, anAct);
    world.publish();
    await world.advance(HOUR_MS - 1);
    expect([verified(old), verified(fresh)]).toEqual([true, true]);
    await world.advance(1);
    world.publish();
    await world.dispatch.drain();
    expect([verified(old), verified(fresh)]).toEqual([false, true]);
  });

  it("takes nothing as long as it has no key, and counts no attempt", async () => {
    const { endpoint, url } = await world.endpoint();
    const keyless = new WebhookWorld();
    keyless.keys = "none";
    const stranger = new DispatchWebhooks({
      ...world.context,
      secrets: keyless.context.secrets,
      observer: { ...world.context.observer, failed: (error) => keyless.failures.push(error) },
    });
    world.publish();
    await stranger.drain();
    expect(keyless.failures).toMatchObject([{ code: "secrets_key_missing" }]);
    expect(world.receivers.to(url)).toEqual([]);
    expect(await world.all(endpoint)).toMatchObject([{ status: "pending", attempts: 0 }]);
    await world.dispatch.drain();
    expect(world.receivers.to(url)).toHaveLength(1);
  });

  it("delivers to all others where one endpoint's secret does not open, and tries that one again", async () => {
    const unreadable = await world.endpoint();
    const other = await world.endpoint();
    const readable = (await world.store.endpoints.find(unreadable.endpoint.id))!.secrets;
    const sealedElsewhere = new WebhookWorld().context.secrets.seal("whsec_", "elsewhere");
    const secretsAre = (secrets: typeof readable) =>
      world.store.endpoints.change(unreadable.endpoint.id, { secrets, updatedAt: world.clock.now() });
    await secretsAre({ current: sealedElsewhere, previous: null });
    const ids = [world.publish(), world.publish()];
    await world.dispatch.drain();
    expect(world.receivers.to(other.url).map(({ id }) => id)).toEqual(ids);
    expect(world.receivers.to(unreadable.url)).toEqual([]);
    expect(await world.all(unreadable.endpoint)).toMatchObject([
      { status: "pending", attempts: 1, lastAttempt: { failure: "secret_unreadable", status: null } },
      { status: "pending", attempts: 1 },
    ]);
    expect(world.failures.splice(0)).toMatchObject([
      { code: "secrets_key_wrong" },
      { code: "secrets_key_wrong" },
    ]);
    await secretsAre(readable);
    await world.advance(5_000);
    expect(world.receivers.to(unreadable.url).map(({ id }) => id)).toEqual(ids);
  });

  it("never disables an endpoint because of a secret that does not open", async () => {
    const { endpoint } = await world.endpoint();
    const sealedElsewhere = new WebhookWorld().context.secrets.seal("whsec_", "elsewhere");
    await world.store.endpoints.change(endpoint.id, {
      secrets: { current: sealedElsewhere, previous: null },
      updatedAt: world.clock.now(),
    });
    for (let day = 0; day < 6; day += 1) {
      world.publish();
      await world.advance(DAY_MS);
    }
    expect(await world.store.endpoints.find(endpoint.id)).toMatchObject({ disabled: null });
    expect(new Set(world.failures.splice(0).map((error) => (error as { code: string }).code))).toEqual(
      new Set(["secrets_key_wrong"]),
    );
  });

  it("signs with the new secret alone where the one before it does not open", async () => {
    const { endpoint, url } = await world.endpoint();
    const { secret } = await world.endpoints.rotateSecret(endpoint.id, ACME, 3_600, anAct);
    const { secrets } = (await world.store.endpoints.find(endpoint.id))!;
    const sealedElsewhere = new WebhookWorld().context.secrets.seal("whsec_", "elsewhere");
    const previous = { ...secrets.previous!, sealed: sealedElsewhere };
    await world.store.endpoints.change(endpoint.id, {
      secrets: { ...secrets, previous },
      updatedAt: world.clock.now(),
    });
    world.publish();
    await world.dispatch.drain();
    const { body, headers } = world.receivers.to(url)[0]!;
    expect(() => new Webhook(secret).verify(body, { ...headers })).not.toThrow();
    expect(world.failures.splice(0)).toMatchObject([{ code: "secrets_key_wrong" }]);
  });

  it("needs the old key no more once each secret was rotated: the one before was sealed again", async () => {
    const { endpoint, url, secret: old } = await world.endpoint();
    const [oldKey, newKey] = [world.keys, new WebhookWorld().keys];
    const during = new WebhookWorld({ store: world.store, clock: world.clock });
    during.keys = `${newKey},${oldKey}`;
    const { secret: fresh } = await during.endpoints.rotateSecret(endpoint.id, ACME, 3_600, anAct);
    const afterwards = new WebhookWorld();
    afterwards.keys = newKey;
    const dispatch = new DispatchWebhooks({ ...world.context, secrets: afterwards.context.secrets });
    world.publish();
    await dispatch.drain();
    const { body, headers } = world.receivers.to(url)[0]!;
    for (const secret of [old, fresh])
      expect(() => new Webhook(secret).verify(body, { ...headers })).not.toThrow();
  });

  it("goes on after a fan-out that another instance was first with, and loses and doubles nothing", async () => {
    const { endpoint } = await world.endpoint();
    const others = Array.from({ length: 4 }, () => new DispatchWebhooks(world.context));
    const published: string[] = [];
    for (let round = 0; round < 20; round += 1) {
      published.push(world.publish(), world.publish());
      await Promise.all([world.dispatch, ...others].map((one) => one.drain()));
    }
    const received = world.receivers.sent.map(({ id }) => id);
    expect([...received].sort()).toEqual([...published].sort());
    expect(await world.all(endpoint)).toHaveLength(published.length);
  });

  it("misses nothing that was published while endpoints came, changed and went", async () => {
    const first = await world.endpoint();
    const expected: string[] = [];
    for (let round = 0; round < 30; round += 1) {
      expected.push(world.publish());
      const [, made] = await Promise.all([world.dispatch.drain(), world.endpoint({ types: [] })]);
      await Promise.all([
        world.dispatch.drain(),
        world.endpoints.change(made.endpoint.id, ACME, { types: null }, anAct),
        world.endpoints.delete(made.endpoint.id, ACME, anAct).catch(() => {}),
      ]);
    }
    await world.dispatch.drain();
    expect(world.receivers.to(first.url).map(({ id }) => id)).toEqual(expected);
  });
});

describe("who waits for whom", () => {
  it("is nobody for a slow endpoint: it has four deliveries under way, and all others go on", async () => {
    const world = new WebhookWorld();
    const slow = await world.endpoint({ ordered: false });
    const quick = await world.endpoint();
    const open = gate();
    world.receivers.answer(slow.url, () => open.then(() => answered(200)));
    const ids = Array.from({ length: 30 }, () => world.publish());
    const draining = world.dispatch.drain();
    await until(() => world.receivers.to(quick.url).length === ids.length);
    expect(world.receivers.to(slow.url)).toHaveLength(4);
    open.release();
    await draining;
    expect(world.receivers.to(slow.url)).toHaveLength(ids.length);
  });

  it("is nobody for thirty slow endpoints: beyond half of the places each has one", async () => {
    const world = new WebhookWorld();
    const open = gate();
    const slow = await Promise.all(Array.from({ length: 30 }, () => world.endpoint({ ordered: false })));
    for (const { url } of slow) world.receivers.answer(url, () => open.then(() => answered(200)));
    const quick = await world.endpoint();
    for (let at = 0; at < 6; at += 1) world.publish();
    const draining = world.dispatch.drain();
    await until(() => world.receivers.to(quick.url).length === 6);
    expect(world.receivers.mostUnderway).toBeLessThanOrEqual(webhookLimits.inAll);
    open.release();
    await draining;
  });

  it("takes up what was published at once, and ends what is under way before it stops", async () => {
    const world = new WebhookWorld({ limits: { ...webhookLimits, pollMs: 60_000 } });
    const { url } = await world.endpoint();
    const open = gate();
    world.dispatch.start();
    world.publish();
    await until(() => world.receivers.to(url).length === 1);
    world.receivers.answer(url, () => open.then(() => answered(200)));
    world.publish();
    await until(() => world.receivers.to(url).length === 2);
    const stopped = world.dispatch.stop();
    open.release();
    await stopped;
    expect(world.receivers.underway).toBe(0);
    expect(await world.store.queue.backlog(world.clock.now())).toMatchObject({ pending: 0 });
  });

  it("keeps a delivery that takes longer than its loan", async () => {
    const world = new WebhookWorld({ limits: { ...webhookLimits, leaseMs: 400, renewMs: 50, pollMs: 10 } });
    const { url } = await world.endpoint();
    const open = gate();
    world.receivers.answer(url, () => open.then(() => answered(200)));
    const other = new DispatchWebhooks(world.context);
    world.publish();
    for (const one of [world.dispatch, other]) one.start();
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    open.release();
    for (const one of [world.dispatch, other]) await one.stop();
    expect(world.receivers.to(url)).toHaveLength(1);
  });
});

describe("what was taken ahead of time", () => {
  /** More than may be under way to one endpoint; all are in hand. */
  const EVENTS = 10;

  async function behindSlow(limits: Partial<WebhookLimits> = {}): Promise<{
    world: WebhookWorld;
    made: Awaited<ReturnType<WebhookWorld["endpoint"]>>;
    open: ReturnType<typeof gate>;
    draining: Promise<number>;
  }> {
    const world = new WebhookWorld({ limits: { ...webhookLimits, leaseMs: 60_000, ...limits } });
    const made = await world.endpoint();
    const open = gate();
    world.receivers.answer(made.url, () => open.then(() => answered(200)));
    for (let at = 0; at < EVENTS; at += 1) world.publish();
    const draining = world.dispatch.drain();
    await until(() => world.receivers.to(made.url).length === 4);
    // Longer than what was read of an endpoint is believed.
    await new Promise((resolve) => setTimeout(resolve, 120));
    return { world, made, open, draining };
  }

  it("does not go to an endpoint that was disabled meanwhile, and waits until it is enabled again", async () => {
    const { world, made, open, draining } = await behindSlow();
    await world.endpoints.change(made.endpoint.id, ACME, { enabled: false }, anAct);
    open.release();
    await draining;
    expect(world.receivers.to(made.url)).toHaveLength(4);
    await world.endpoints.change(made.endpoint.id, ACME, { enabled: true }, anAct);
    await world.dispatch.drain();
    expect(world.receivers.to(made.url)).toHaveLength(EVENTS);
  });

  it("goes where its endpoint is now, signed by the secret of now", async () => {
    const { world, made, open, draining } = await behindSlow();
    const url = "https://moved.example.com/";
    await world.endpoints.change(made.endpoint.id, ACME, { url }, anAct);
    const { secret } = await world.endpoints.rotateSecret(made.endpoint.id, ACME, 0, anAct);
    open.release();
    await draining;
    expect(world.receivers.to(url)).toHaveLength(EVENTS - 4);
    for (const { body, headers } of world.receivers.to(url))
      expect(() => new Webhook(secret).verify(body, { ...headers })).not.toThrow();
  });

  it("does not go to an endpoint that has just said that it is gone", async () => {
    const world = new WebhookWorld();
    const { url } = await world.endpoint();
    world.receivers.answer(url, () => answered(410));
    for (let at = 0; at < EVENTS; at += 1) world.publish();
    await world.dispatch.drain();
    expect(world.receivers.to(url).length).toBeLessThanOrEqual(4);
    expect(new Set(world.disabled)).toEqual(new Set(["gone"]));
  });

  it("is not sent by a process that stood still until it was lent to another one", async () => {
    const { world, made, open, draining } = await behindSlow({ leaseMs: 150 });
    const there = { owner: "there", leaseMs: 60_000, now: world.clock.now(), limit: 100 };
    const taken = new Set<string>();
    await until(async () => {
      for (const { id } of await world.store.queue.claim({ ...there, perEndpoint: 100, alone: 100 }))
        taken.add(id);
      return taken.size === EVENTS;
    });
    open.release();
    await draining;
    expect(world.receivers.to(made.url)).toHaveLength(4);
  });

  it("is given back at once when the process stops", async () => {
    const { world, open, draining } = await behindSlow();
    await world.dispatch.stop(1);
    const there = { owner: "there", leaseMs: 1_000, now: world.clock.now(), limit: 100 };
    expect(await world.store.queue.claim({ ...there, perEndpoint: 100, alone: 100 })).toHaveLength(EVENTS);
    open.release();
    await draining;
  });
});

describe("what it costs", () => {
  it("is one look in a while where nobody listens, however much is published", async () => {
    const world = new WebhookWorld({ limits: { ...webhookLimits, pollMs: 60_000, roundMs: 1 } });
    const looks = jest.spyOn(world.store.fanOut, "state");
    world.dispatch.start();
    await until(() => looks.mock.calls.length === 1);
    for (let at = 0; at < 10; at += 1) {
      world.publish();
      await new Promise((resolve) => setTimeout(resolve, 3));
    }
    expect(looks).toHaveBeenCalledTimes(1);
    // Whoever listens from now on is told at once.
    const { url } = await world.endpoint();
    const id = world.publish();
    await until(() => world.receivers.to(url).length === 1);
    expect(world.receivers.to(url)[0]?.id).toBe(id);
    await world.dispatch.stop();
  });

  it("is a few writes for many deliveries", async () => {
    const world = new WebhookWorld({ limits: { ...webhookLimits, pollMs: 60_000 } });
    const { url, endpoint } = await world.endpoint();
    const settled = jest.spyOn(world.store.queue, "settle");
    const fannedOut = jest.spyOn(world.store.fanOut, "advance");
    world.dispatch.start();
    for (let at = 0; at < 100; at += 1) {
      world.publish();
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
    await until(() => world.receivers.to(url).length === 100);
    await world.dispatch.stop();
    expect(await world.all(endpoint)).toHaveLength(100);
    expect(await world.store.queue.backlog(world.clock.now())).toMatchObject({ pending: 0 });
    expect(settled.mock.calls.length).toBeLessThan(50);
    expect(fannedOut.mock.calls.length).toBeLessThan(50);
  });

  it("is no delivery of others when the store refuses what became of one", async () => {
    const world = new WebhookWorld();
    const { url, endpoint } = await world.endpoint();
    const refused = world.publish();
    const ids = [world.publish(), world.publish()];
    const settle = world.store.queue.settle.bind(world.store.queue);
    jest.spyOn(world.store.queue, "settle").mockImplementation(async (owner, settlements) => {
      const of = await Promise.all(settlements.map((one) => world.store.deliveries.find(one.deliveryId)));
      if (of.some((one) => one?.eventId === refused)) throw new Error("this cannot be written");
      return settle(owner, settlements);
    });
    await world.dispatch.drain();
    expect(world.receivers.to(url)).toHaveLength(3);
    const delivered = (await world.all(endpoint)).filter(({ status }) => status === "delivered");
    expect(delivered.map(({ eventId }) => eventId).sort()).toEqual(ids.sort());
    expect(world.failures).toHaveLength(1);
  });
});

function gate(): Promise<void> & { release: () => void } {
  let release = (): void => {};
  const open = new Promise<void>((resolve) => (release = resolve));
  return Object.assign(open, { release });
}

async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = Date.now() + 10_000;
  while (!(await condition())) {
    if (Date.now() > deadline) throw new Error("it never came to that");
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
}
