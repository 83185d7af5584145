import { anAct } from "../../support/an-act";
import { openOperationOf } from "../../../src/domain/payment/payment";
import type { SandboxWorld } from "../../../src/application/sandboxes/world/sandbox-world";
import { decodeSnapshot, encodeSnapshot } from "../../../src/application/sandboxes/snapshots/snapshot-format";
import type { Caller } from "../../../src/application/operations/caller";
import { parseIdempotencyKey, type PaymentId } from "../../../src/domain/identifiers";
import { money, parseCurrency } from "../../../src/domain/money";
import { silentWebhooks } from "../../support/worlds/sandbox-webhooks";
import { SimulatedWorlds } from "../../../src/infrastructure/sandboxes/simulated-worlds";
import { merchant } from "../../support/worlds/sandbox-instances";

const settings = {
  maxPayments: 100,
  locks: {},
  webhooks: silentWebhooks(),
  onError: (error: unknown) => {
    throw error;
  },
};
const worlds = new SimulatedWorlds(settings);
const start = new Date("2026-03-01T12:00:00.000Z");
const caller: Caller = { merchant, actor: { key: "test" } };
let keys = 0;
const key = () => parseIdempotencyKey(`key-${(keys += 1)}`);

async function authorize(world: SandboxWorld, paymentMethod = "tok_ok", expiresInSeconds = 3_600) {
  const outcome = await world.payments.authorizePayment
    .execute(
      {
        idempotencyKey: key(),
        amount: money(1_000n, parseCurrency("EUR")),
        paymentMethod,
        reference: "order",
        metadata: { basket: "7" },
        expiresInSeconds,
      },
      caller,
    )
    .catch(() => undefined);
  return outcome?.payment.facts.id as PaymentId;
}
const capture = (world: SandboxWorld, paymentId: PaymentId, amount?: bigint) =>
  world.payments.capturePayment.execute(
    { paymentId, idempotencyKey: key(), ...(amount === undefined ? {} : { amount }) },
    caller,
  );

/** As it goes through a file. */
async function throughSnapshot(world: SandboxWorld): Promise<SandboxWorld> {
  const { content } = await world.takeContent();
  return worlds.restore(decodeSnapshot(encodeSnapshot({ sandboxId: "x", takenAt: start, content })).content);
}

const HOUR_MS = 3_600_000;

/** A sandbox whose one endpoint fails, and when by its clock each attempt was made. */
async function failingWebhooks() {
  const attempts: { at: number; event: string }[] = [];
  let now = (): Date => start;
  const failing = new SimulatedWorlds({
    ...settings,
    webhooks: silentWebhooks({
      sender: {
        send: async ({ headers }) => {
          attempts.push({ at: now().getTime() - start.getTime(), event: headers["webhook-id"] ?? "" });
          return {
            result: "failed",
            status: 500,
            failure: "status",
            retryAfterMs: null,
            answer: "",
            tookMs: 1,
          };
        },
      },
    }),
  });
  const world = failing.create(start);
  now = () => world.now;
  const wish = { url: "https://shop.example/hooks", types: null, description: null, ordered: true };
  const { endpoint } = await world.webhookEndpoints.create(merchant, wish, anAct);
  await authorize(world, "tok_ok", 7 * 86_400);
  const deliveries = async () =>
    (await world.webhookDeliveries.list(endpoint.id, merchant, { limit: 10 })).data;
  return { world, attempts, deliveries };
}

async function everything(world: SandboxWorld) {
  const { data } = await world.payments.readPayments.list({ merchant, limit: 100 });
  const histories = await Promise.all(
    data.map(({ facts: { id } }) => world.payments.readPayments.history(id, merchant, { limit: 100 })),
  );
  const { events } = await world.payments.eventFeed.read({ after: 0, limit: 1_000 });
  return { now: world.now, payments: data.map(({ facts }) => facts), histories, events };
}

test("a world comes back whole: every kind of payment, its history, the clock and what the gateway knows", async () => {
  const world = worlds.create(start);
  const [part, whole, toVoid, unknown] = [
    await authorize(world),
    await authorize(world),
    await authorize(world),
    await authorize(world, "tok_timeout_captured"),
  ];
  await authorize(world, "tok_decline");
  await authorize(world, "tok_ok", 60);
  await authorize(world);
  await world.moveClock({ advanceMs: 120_000 });
  await capture(world, part, 400n);
  await capture(world, whole);
  await world.payments.refundPayment.execute(
    { paymentId: whole, idempotencyKey: key(), amount: 300n },
    caller,
  );
  await world.payments.voidPayment.execute({ paymentId: toVoid, idempotencyKey: key() }, caller);
  await capture(world, unknown);
  const before = await everything(world);
  expect(new Set(before.payments.map(({ status }) => status)).size).toBeGreaterThanOrEqual(4);
  expect(new Set(before.events.map(({ type }) => type)).size).toBeGreaterThanOrEqual(6);

  const restored = await throughSnapshot(world);
  expect(await everything(restored)).toEqual(before);
  const [one, other] = [
    await world.takeContent(),
    await throughSnapshot(restored).then((w) => w.takeContent()),
  ];
  const withoutLastId = ({ content }: { content: unknown }) => ({ ...(content as object), lastId: null });
  expect(withoutLastId(other)).toEqual(withoutLastId(one));

  // The two go on apart: what the gateway did before is known to both, what it does now to one.
  await restored.moveClock({ advanceMs: 60_000 });
  expect((await restored.payments.readPayments.one(unknown, merchant)).facts.status).toBe("captured");
  expect(openOperationOf(await world.payments.readPayments.one(unknown, merchant))).toBeDefined();
  const { events } = await restored.payments.eventFeed.read({ after: before.events.length, limit: 10 });
  expect(events).toMatchObject([{ type: "payment.captured", paymentId: unknown, sequence: 3 }]);
});

test("a world comes back with what others did at the gateway, and with what they are still going to do", async () => {
  const world = worlds.create(start);
  const observe = (one: SandboxWorld, id: PaymentId) => one.payments.observePayment.execute(id, caller);
  const [taken, later, disputed] = [
    await authorize(world, "tok_captured_elsewhere_0"),
    await authorize(world, "tok_captured_elsewhere_60000"),
    await authorize(world, "tok_dispute_0"),
  ];
  await capture(world, disputed);
  await observe(world, taken);
  await observe(world, disputed);
  const before = await everything(world);
  expect(before.payments.flatMap(({ disputes }) => disputes)).toHaveLength(1);
  expect(
    before.payments.flatMap(({ operations }) => operations).filter((one) => one.origin === "gateway"),
  ).toHaveLength(1);
  const restored = await throughSnapshot(world);
  expect(await everything(restored)).toEqual(before);
  await restored.moveClock({ advanceMs: 60_000 });
  await observe(restored, later);
  const { facts } = await restored.payments.readPayments.one(later, merchant);
  expect(facts.operations.map(({ kind, origin }) => `${origin} ${kind}`)).toEqual([
    "holdfast authorize",
    "gateway capture",
  ]);
});

test("a snapshot from before others' movements were known has our own, and no disputes", async () => {
  const world = worlds.create(start);
  const id = await authorize(world);
  await capture(world, id);
  const { content } = await world.takeContent();
  const { payments, ...rest } = JSON.parse(JSON.stringify(content)) as { payments: { payments: object[] } };
  const older = payments.payments.map(
    (payment) =>
      JSON.parse(
        JSON.stringify(payment, (name, value: unknown) =>
          name === "origin" || name === "disputes" ? undefined : value,
        ),
      ) as object,
  );
  const restored = worlds.restore({ ...rest, payments: { ...payments, format: 3, payments: older } });
  const { facts } = await restored.payments.readPayments.one(id, merchant);
  expect(facts).toEqual((await world.payments.readPayments.one(id, merchant)).facts);
});

test("a snapshot from before there were public events is restored with an empty feed", async () => {
  const world = worlds.create(start);
  await authorize(world);
  const { content } = await world.takeContent();
  const { payments, ...rest } = content as { payments: object };
  const older = { ...payments, format: 2, publicEvents: undefined };
  const restored = worlds.restore(JSON.parse(JSON.stringify({ ...rest, payments: older })));
  expect(await restored.payments.eventFeed.latest()).toBe(0);
  const { data } = await restored.payments.readPayments.list({ merchant, limit: 10 });
  await capture(restored, data[0]!.facts.id);
  const { events } = await restored.payments.eventFeed.read({ after: 0, limit: 10 });
  expect(events).toMatchObject([{ type: "payment.captured", sequence: 1 }]);
});

test("ids go on ascending after a restore, though the clock stands still", async () => {
  let world = worlds.create(start);
  const ids: string[] = [];
  for (let n = 0; n < 10; n += 1) {
    ids.push(await authorize(world));
    world = await throughSnapshot(world);
  }
  expect(ids).toEqual([...ids].sort());
});

test("a snapshot in the middle of an operation is as a crash there: the same key finishes it, with one movement", async () => {
  const world = worlds.create(start);
  const id = await authorize(world);
  const idempotencyKey = parseIdempotencyKey("in-the-middle");
  const capturing = world.payments.capturePayment.execute({ paymentId: id, idempotencyKey }, caller);
  const cuts: Promise<SandboxWorld>[] = [];
  for (let turn = 0; turn < 60; turn += 1) {
    cuts.push(throughSnapshot(world));
    await Promise.resolve();
  }
  await capturing;
  const states = new Set<string>();
  for (const cut of await Promise.all(cuts)) {
    const { facts } = await cut.payments.readPayments.one(id, merchant);
    states.add(`${facts.status} ${facts.operations.length}`);
    await cut.moveClock({ advanceMs: 10_000 });
    const again = await cut.payments.capturePayment.execute({ paymentId: id, idempotencyKey }, caller);
    expect(again.operation.status).toBe("succeeded");
    const { gateway } = (await cut.takeContent()).content as { gateway: { moves: { kind: string }[] } };
    expect(gateway.moves.filter(({ kind }) => kind === "capture")).toHaveLength(1);
  }
  // Before it, in the middle of it and after it.
  expect(states).toEqual(new Set(["authorized 1", "authorized 2", "captured 2"]));
});

test("what is no world is refused", () => {
  for (const content of [
    null,
    {},
    { clock: "now" },
    { clock: start.toISOString(), payments: [], gateway: [] },
  ])
    expect(() => worlds.restore(content)).toThrow();
});

describe("a sandbox's clock plays the schedule of a webhook that fails", () => {
  /** Of the ten attempts, from the event on: at once, 5 s, 5 min, 30 min, and 2, 5, 10, 14, 20 and 24 h. */
  const steps = [0, 5, 5 * 60, 30 * 60, ...[2, 5, 10, 14, 20, 24].map((hours) => hours * 3_600)];
  const instants = steps.map((_, last) => 1_000 * steps.slice(0, last + 1).reduce((sum, step) => sum + step));

  test("76 hours play all of it, each attempt at its own instant, without any spread", async () => {
    const { world, attempts, deliveries } = await failingWebhooks();
    await world.moveClock({ advanceMs: 76 * HOUR_MS });
    expect(attempts.map(({ at }) => at)).toEqual(instants);
    expect(new Set(attempts.map(({ event }) => event)).size).toBe(1);
    expect(await deliveries()).toMatchObject([{ status: "failed", attempts: 10, dueAt: null }]);
    await world.moveClock({ advanceMs: 24 * HOUR_MS });
    expect(attempts).toHaveLength(10);
  });

  test("three days play nine of ten attempts, and the last one comes after 3 h 35 min 5 s more, not before", async () => {
    const { world, attempts, deliveries } = await failingWebhooks();
    await world.moveClock({ advanceMs: 72 * HOUR_MS });
    expect(attempts.map(({ at }) => at)).toEqual(instants.slice(0, 9));
    expect(await deliveries()).toMatchObject([{ status: "pending", attempts: 9 }]);
    await world.moveClock({ advanceMs: (3 * 3_600 + 35 * 60 + 5) * 1_000 - 1 });
    expect(attempts).toHaveLength(9);
    await world.moveClock({ advanceMs: 1 });
    expect(attempts).toHaveLength(10);
    expect(await deliveries()).toMatchObject([{ status: "failed", attempts: 10 }]);
  });
});
