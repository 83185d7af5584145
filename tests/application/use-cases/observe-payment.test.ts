import { StoreUnavailableError } from "../../../src/application/ports/payment-repository";
import type { FindAnswer } from "../../../src/application/ports/payment-gateway";
import { openOperationOf, visibleStatus } from "../../../src/domain/payment/payment";
import { PaymentsWorld } from "../../support/worlds/payments-world";

const unknown = { outcome: "unknown", reason: "no answer" } as const;
const unsent = { outcome: "not_sent", reason: "no route" } as const;

test("all operations that have ended are asked about, and it is said why another one is not", async () => {
  const world = new PaymentsWorld();
  const id = await world.captured();
  for (const key of ["r1", "r2", "r3"]) await world.refund(id, key, { amount: 100n });
  world.gateway.next("refund", async () => unsent);
  await world.refund(id, "r4", { amount: 100n }).catch(() => undefined);
  const { observations, next } = await world.observe(id);
  expect(observations.map((one) => ("seen" in one ? one.result : one.notAsked))).toEqual([
    "agrees",
    "agrees",
    "agrees",
    "agrees",
    "agrees",
    "not_sent",
  ]);
  expect(next).toBeNull();
});

test("what is open is asked about by its key where the gateway draws no pictures", async () => {
  const world = new PaymentsWorld({ withoutPictures: true });
  const id = await world.authorize();
  world.gateway.next("capture", async () => unknown);
  await world.capture(id, "k");
  const { observations } = await world.observe(id);
  expect(observations.at(-1)).toMatchObject({ seen: { outcome: "absent" }, result: "inconclusive" });
});

test("a release that is open has no key of its own to be asked about", async () => {
  const world = new PaymentsWorld({ withoutPictures: true });
  const id = await world.authorize();
  world.clock.advance(2 * 3_600_000);
  world.gateway.next("void", async () => unknown);
  await world.expire(0);
  expect((await world.observe(id)).observations.at(-1)).toMatchObject({ notAsked: "open" });
});

test("a movement of others has no key of ours to be asked about, in review either", async () => {
  const world = new PaymentsWorld();
  const id = await world.authorize("tok_captured_elsewhere_0");
  await world.observe(id);
  world.gateway.shows({
    refunds: [
      { reference: "re_elsewhere", amount: 2_000n, operationId: null, state: "succeeded", reason: null },
    ],
  });
  await world.observe(id);
  expect(openOperationOf(await world.payment(id))).toMatchObject({
    origin: "gateway",
    status: "needs_review",
  });
  world.gateway.picture = async () => unknown;
  expect((await world.observe(id)).observations.at(-1)).toMatchObject({ notAsked: "made_elsewhere" });
});

describe("which operations are asked about by their keys", () => {
  /** In the order in which they are asked about. */
  function askedIn(world: PaymentsWorld): string[] {
    const asked: string[] = [];
    const find = world.simulated.find.bind(world.simulated);
    jest.spyOn(world.simulated, "find").mockImplementation((request) => {
      asked.push(`${request.kind} ${request.amount.amount}`);
      return find(request);
    });
    return asked;
  }

  test("refunds that succeeded come first, the latest before the others, and then all others", async () => {
    const world = new PaymentsWorld();
    const id = await world.captured();
    await world.refund(id, "r1", { amount: 1n });
    world.gateway.next("refund", async () => ({ outcome: "declined", reason: "no" }));
    await world.refund(id, "r2", { amount: 2n }).catch(() => undefined);
    await world.refund(id, "r3", { amount: 3n });
    const asked = askedIn(world);
    await world.observe(id);
    expect(asked).toEqual(["refund 3", "refund 1", "refund 2", "capture 1000", "authorize 1000"]);
  });

  test("what is open is not, where the picture shows it", async () => {
    const world = new PaymentsWorld();
    const id = await world.authorize("tok_capture_timeout_captured");
    await world.capture(id, "k");
    const asked = askedIn(world);
    expect((await world.observe(id)).observations.at(-1)).toMatchObject({ result: "settled" });
    expect(asked).toEqual(["authorize 1000"]);
  });

  test("what is open is, once, where no picture comes", async () => {
    const world = new PaymentsWorld();
    const id = await world.captured("tok_refund_timeout_captured");
    await world.refund(id, "r", { amount: 5n });
    world.gateway.picture = async () => unknown;
    const asked = askedIn(world);
    expect((await world.observe(id)).observations.at(-1)).toMatchObject({ result: "settled" });
    expect(asked).toEqual(["capture 1000", "authorize 1000", "refund 5"]);
  });

  test("a release is not, also where no picture comes", async () => {
    const world = new PaymentsWorld();
    const id = await world.authorize();
    world.clock.advance(2 * 3_600_000);
    world.gateway.next("void", async () => unknown);
    await world.expire(0);
    world.gateway.picture = async () => unknown;
    const asked = askedIn(world);
    expect((await world.observe(id)).observations.at(-1)).toMatchObject({ notAsked: "open" });
    expect(asked).toEqual(["authorize 1000"]);
  });
});

describe("without the picture, nobody knows whose doing it was that", () => {
  const differs: FindAnswer = { outcome: "mismatch", evidence: "it was let go" };

  test.each(["authorize", "void"] as const)("a former %s is no more what it was", async (kind) => {
    const world = new PaymentsWorld();
    const id = await world.authorize();
    if (kind === "void") await world.void(id, "v");
    else await world.capture(id, "c");
    const before = await world.context.payments.find(id);
    world.gateway.picture = async () => unknown;
    jest
      .spyOn(world.simulated, "find")
      .mockImplementation(async (request) =>
        request.kind === kind ? differs : { outcome: "succeeded", reference: "as it was" },
      );
    const { observations, isPictured } = await world.observe(id);
    expect(isPictured).toBe(false);
    expect(observations.map((one) => "result" in one && one.result)).not.toContain("in_review");
    expect((await world.context.payments.find(id))?.payment.facts.status).toBe(before?.payment.facts.status);
    expect(await world.context.payments.countInReview()).toBe(0);
  });
});

test("a customer who has to act is news to an authorization that was begun, and of which nothing more was written", async () => {
  const world = new PaymentsWorld();
  const { payments } = world.context;
  const save = payments.save.bind(payments);
  jest
    .spyOn(payments, "save")
    .mockImplementationOnce(save)
    .mockImplementation(() => Promise.reject(new StoreUnavailableError("gone", { reason: "full" })));
  const { id } = (
    await world.begin({ paymentMethod: "tok_requires_action", returnUrl: "https://shop.example" })
  ).payment.facts;
  jest.restoreAllMocks();
  expect(openOperationOf(await world.payment(id))).toMatchObject({ status: "started" });
  await world.observe(id);
  expect(visibleStatus(await world.payment(id))).toBe("requires_action");
});
