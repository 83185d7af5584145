import type { OperationOutcome } from "../../../src/application/operations/operation-outcome";
import { budgets } from "../../../src/application/time-budgets";
import { AuthorizePayment } from "../../../src/application/use-cases/authorize-payment";
import { StoreUnavailableError } from "../../../src/application/ports/payment-repository";
import { parseIdempotencyKey, type PaymentId } from "../../../src/domain/identifiers";
import { money, parseCurrency } from "../../../src/domain/money";
import { PostgresDatabase } from "../../../src/infrastructure/persistence/postgres/postgres-database";
import { PostgresPaymentRepository } from "../../../src/infrastructure/persistence/postgres/postgres-payment-repository";
import { migratedPostgres } from "../../support/servers/migrated-postgres";
import { PaymentsWorld } from "../../support/worlds/payments-world";
import { relayTo, type PostgresRelay } from "../../support/servers/postgres-relay";
import { describeWithPostgresSchemas } from "../../support/servers/servers";

jest.setTimeout(60_000);

/** Lets something happen to the connection just before the next save. */
class DisturbedRepository extends PostgresPaymentRepository {
  disturb: () => void = () => {};

  override save(...args: Parameters<PostgresPaymentRepository["save"]>) {
    const { disturb } = this;
    this.disturb = () => {};
    disturb();
    return super.save(...args);
  }
}

type Ask = (world: PaymentsWorld, id: PaymentId | null) => Promise<OperationOutcome>;
const requests: readonly [string, (world: PaymentsWorld) => Promise<PaymentId | null>, Ask][] = [
  [
    "authorize",
    async () => null,
    (world) =>
      new AuthorizePayment(world.locks, world.context).execute(
        {
          idempotencyKey: parseIdempotencyKey("k"),
          amount: money(1_000n, parseCurrency("EUR")),
          paymentMethod: "tok_ok",
          reference: null,
          metadata: {},
          expiresInSeconds: 3_600,
        },
        world.caller(),
      ),
  ],
  ["capture", (world) => world.authorize(), (world, id) => world.capture(id!, "k")],
  ["void", (world) => world.authorize(), (world, id) => world.void(id!, "k")],
  ["refund", (world) => world.captured(), (world, id) => world.refund(id!, "k")],
  ["import", async () => null, (world) => world.import("k", "ext_1250_eur_browser")],
];

const accidents: readonly [string, (relay: PostgresRelay) => void, "succeeded" | "effect unknown"][] = [
  ["two answers are lost", (relay) => relay.lose("answer lost", "answer lost"), "succeeded"],
  [
    "two answers are lost, and the questions after them",
    (relay) => relay.lose("answer lost", "answer lost", "request lost", "request lost"),
    "effect unknown",
  ],
  ["answers are swallowed", (relay) => relay.fallSilent("answers"), "effect unknown"],
  ["requests are kept, and arrive later", (relay) => relay.holdBack(), "effect unknown"],
];

async function told(asked: Promise<OperationOutcome>): Promise<string> {
  try {
    return (await asked).operation.status;
  } catch (error) {
    if (error instanceof StoreUnavailableError) return `effect ${error.outcome}`;
    throw error;
  }
}

describeWithPostgresSchemas("an intent whose answer PostgreSQL loses", (server) => {
  let relay: PostgresRelay;
  let direct: PostgresDatabase;
  let relayed: PostgresDatabase;
  let payments: DisturbedRepository;
  let world: PaymentsWorld;

  beforeEach(async () => {
    direct = await migratedPostgres(server.url);
    relay = await relayTo(server.url);
    relayed = new PostgresDatabase(relay.url);
    payments = new DisturbedRepository(relayed);
    world = new PaymentsWorld({ payments });
  });
  afterEach(async () => {
    relay.speak();
    await relayed.close();
    await relay.close();
    await direct.close();
  });

  describe.each(requests)("%s", (kind, prepare, ask) => {
    test.each(accidents)(
      "%s: the answer is true, and the same key has one outcome",
      async (_how, disturb, expected) => {
        const id = await prepare(world);
        payments.disturb = () => disturb(relay);
        const begunAt = performance.now();
        expect(await told(ask(world, id))).toBe(expected);
        expect(performance.now() - begunAt).toBeLessThan(budgets.savesMs + 2 * budgets.readMs + 1_500);
        relay.lose();
        relay.speak();
        world.clock.advance(10_000);
        const { operation, payment } = await ask(world, id);
        expect(operation.status).toBe("succeeded");
        const stored = await new PostgresPaymentRepository(direct).find(payment.facts.id);
        const operations = stored!.payment.facts.operations.filter((one) => one.idempotencyKey === "k");
        expect(operations).toHaveLength(1);
        const moves = (await world.simulated.moves(payment.facts.id)).filter((move) => move.kind === kind);
        expect(moves).toHaveLength(kind === "import" ? 0 : 1);
      },
    );

    test("nobody can be asked from the start: nothing was done", async () => {
      const id = await prepare(world);
      relay.fallSilent("answers");
      expect(await told(ask(world, id))).toBe("effect none");
      relay.speak();
      const before = id === null ? null : await new PostgresPaymentRepository(direct).find(id);
      expect(before?.payment.facts.operations.filter((one) => one.idempotencyKey === "k") ?? []).toEqual([]);
    });
  });

  test("a question whose answers are lost has changed nothing", async () => {
    const id = await world.authorize();
    // Two connections, so that the second try is sent, too.
    await Promise.all([payments.find(id), payments.find(id)]);
    relay.lose("answer lost", "answer lost");
    await expect(payments.find(id)).rejects.toMatchObject({ name: "StoreUnavailableError", outcome: "none" });
  });

  test("a verdict that may be stored is not said to have no effect", async () => {
    const id = await world.authorize("tok_capture_timeout_captured");
    const { operation } = await world.capture(id, "k");
    world.clock.advance(10_000);
    world.gateway.answersQuestions({ outcome: "mismatch", evidence: "another amount" });
    await world.reconcile();
    payments.disturb = () => relay.lose("answer lost", "answer lost", "request lost", "request lost");
    await expect(world.review(operation.id)).rejects.toMatchObject({ outcome: "unknown" });
    expect((await new PostgresPaymentRepository(direct).find(id))?.payment.facts.status).toBe("captured");
  });
});
