import { createHash } from "node:crypto";
import type { PaymentId } from "../../../src/domain/identifiers";
import { money, parseCurrency } from "../../../src/domain/money";
import { PaymentsWorld } from "../../support/worlds/payments-world";

/**
 * Written out here and not asked of the code: what is stored of a key today has to be what the next release makes of the same
 * request, or every request that is repeated across an update is refused (ADR 0053).
 */
const digest = (parts: string): string => createHash("sha256").update(parts).digest("hex");

let world: PaymentsWorld;
beforeEach(() => (world = new PaymentsWorld()));

const lastOf = async (id: PaymentId) => (await world.payment(id)).facts.operations.at(-1)!;

test("what a key of an authorization is bound to is the merchant, the amount, the card, the labels and the time", async () => {
  const wanted = {
    amount: money(1_250n, parseCurrency("EUR")),
    paymentMethod: "tok_ok",
    reference: "order 1",
    metadata: { b: "2", a: "1" },
    expiresInSeconds: 3_600,
  };
  const bare = await world.begin(wanted);
  const parts = String.raw`"authorize","acme","1250","EUR","tok_ok","order 1","[[\"a\",\"1\"],[\"b\",\"2\"]]","3600"`;
  expect((await lastOf(bare.payment.facts.id)).fingerprint).toBe(digest(`[${parts}]`));
  const back = await world.begin({ ...wanted, returnUrl: "https://shop.example" });
  expect((await lastOf(back.payment.facts.id)).fingerprint).toBe(digest(`[${parts},"https://shop.example"]`));
});

test("what a key of a movement is bound to is its kind, the payment, and the amount and currency if they were said", async () => {
  const one = await world.authorize();
  await world.capture(one, "c1", { amount: 600n, currency: "EUR" });
  expect((await lastOf(one)).fingerprint).toBe(digest(`["capture","${one}","600","EUR"]`));
  await world.refund(one, "r1");
  expect((await lastOf(one)).fingerprint).toBe(digest(`["refund","${one}",null,null]`));
  const two = await world.authorize();
  await world.capture(two, "c2");
  expect((await lastOf(two)).fingerprint).toBe(digest(`["capture","${two}",null,null]`));
  await world.refund(two, "r3", { amount: 5n, currency: "EUR" });
  expect((await lastOf(two)).fingerprint).toBe(digest(`["refund","${two}","5","EUR"]`));
  const three = await world.authorize();
  await world.void(three, "v1");
  expect((await lastOf(three)).fingerprint).toBe(digest(`["void","${three}"]`));
});

test("what a key of an import is bound to is the merchant, the gateway's name, the labels and the time", async () => {
  const { payment } = await world.import("i1", "ext_1250_eur_browser");
  const parts = `"import","acme","ext_1250_eur_browser",null,"[]",null`;
  expect((await lastOf(payment.facts.id)).fingerprint).toBe(digest(`[${parts}]`));
});
