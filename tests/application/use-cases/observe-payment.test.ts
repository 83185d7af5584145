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
