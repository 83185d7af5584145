import { ReadPayments } from "../../../src/application/use-cases/read-payments";
import { parseMerchantId, type PaymentId } from "../../../src/domain/identifiers";
import { PaymentsWorld } from "../../support/worlds/payments-world";
import { newOperationId } from "../../support/worlds/payments";

const other = parseMerchantId("other");

let world: PaymentsWorld;
let reads: ReadPayments;
let id: PaymentId;

beforeEach(async () => {
  world = new PaymentsWorld();
  reads = new ReadPayments(world.context.payments);
  id = await world.captured();
});

test("a payment is there for its merchant and for an operator, and for nobody else", async () => {
  const { merchant } = world;
  expect((await reads.one(id, merchant)).facts.id).toBe(id);
  expect((await reads.one(id, null)).facts.id).toBe(id);
  const missing = { code: "payment_not_found", facts: { paymentId: id } };
  await expect(reads.one(id, other)).rejects.toMatchObject(missing);
  const unknown = newOperationId() as unknown as PaymentId;
  await expect(reads.one(unknown, null)).rejects.toMatchObject({ code: "payment_not_found" });
});

test("a payment is found by what the gateway calls its authorization or a movement, by its own merchant alone", async () => {
  const { facts } = await world.payment(id);
  const names = [facts.authorizationReference!, facts.operations.at(-1)!.gatewayReference!];
  for (const name of names) {
    const found = async (merchant: typeof other | null) =>
      (await reads.byGatewayReference(name, merchant, 5)).map((one) => one.facts.id);
    expect([await found(null), await found(world.merchant), await found(other)]).toEqual([[id], [id], []]);
    expect(await reads.byGatewayReference(name, null, 0)).toEqual([]);
  }
  expect(await reads.byGatewayReference("nothing", null, 5)).toEqual([]);
});

test("a payment is found by one of its operations, by its own merchant alone", async () => {
  const operation = (await world.payment(id)).facts.operations.at(-1)!.id;
  const found = async (merchant: typeof other | null) =>
    (await reads.byOperation(operation, merchant))?.facts.id ?? null;
  expect([await found(null), await found(world.merchant), await found(other)]).toEqual([id, id, null]);
  expect(await reads.byOperation(newOperationId(), null)).toBeNull();
});

test("a history is read page by page, by whom the payment is there for", async () => {
  const { data, nextCursor } = await reads.history(id, world.merchant, { limit: 2 });
  expect(data.map(({ type }) => type)).toEqual(["authorize.started", "authorize.succeeded"]);
  expect(nextCursor).not.toBeNull();
  const rest = await reads.history(id, null, { limit: 100, cursor: nextCursor! });
  expect([...data, ...rest.data].map(({ type }) => type)).toEqual(await world.eventTypes(id));
  await expect(reads.history(id, other, { limit: 2 })).rejects.toMatchObject({ code: "payment_not_found" });
});

test("payments are listed, and those whose outcome is not known, of one merchant or of all", async () => {
  expect(
    (await reads.list({ merchant: world.merchant, limit: 5 })).data.map(({ facts }) => facts.id),
  ).toEqual([id]);
  expect(await reads.unknown(null, 5)).toEqual([]);
  world.gateway.next("authorize", async () => ({ outcome: "unknown", reason: "no answer" }));
  const lost = await world.begin().then(({ payment }) => payment.facts.id);
  const unknown = async (merchant: typeof other | null) =>
    (await reads.unknown(merchant, 5)).map(({ paymentId }) => paymentId);
  expect([await unknown(null), await unknown(world.merchant), await unknown(other)]).toEqual([
    [lost],
    [lost],
    [],
  ]);
});
