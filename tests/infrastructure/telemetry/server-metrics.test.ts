import { Registry } from "prom-client";
import { gatewayMetrics } from "../../../src/infrastructure/telemetry/gateway-metrics";
import { serverMetrics } from "../../../src/infrastructure/telemetry/server-metrics";
import { storeMetrics } from "../../../src/infrastructure/telemetry/store-metrics";
import { watchedGateway } from "../../../src/infrastructure/telemetry/watched-gateway";
import { migratedPostgres } from "../../support/servers/migrated-postgres";
import { describeWithPostgresSchemas } from "../../support/servers/servers";
import { describeOnEveryStore } from "../../support/worlds/every-store";
import { authorizedPayment } from "../../support/worlds/payments";
import { PaymentsWorld } from "../../support/worlds/payments-world";
import { temporarySqlite } from "../../support/worlds/temporary-sqlite";
import { SqlitePaymentRepository } from "../../../src/infrastructure/persistence/sqlite/sqlite-payment-repository";

const HOUR_MS = 3_600_000;

describeOnEveryStore("metrics of what waits", (open) => {
  async function read(world: PaymentsWorld, name: string): Promise<number> {
    const registry = new Registry();
    serverMetrics(registry, world.context.payments, world.clock, {});
    const text = await registry.metrics();
    const escaped = name.replaceAll(/[{}"]/g, String.raw`\$&`);
    return Number(new RegExp(`^${escaped} (\\S+)$`, "m").exec(text)?.[1]);
  }

  it("the age of the oldest operation whose outcome is not known rises until it is known", async () => {
    const world = await open();
    const metric = "holdfast_operations_oldest_unknown_seconds";
    expect(await read(world, metric)).toBe(0);
    await world.capture(await world.authorize("tok_capture_timeout_captured"), "k");
    world.clock.advance(60_000);
    await world.capture(await world.authorize("tok_capture_timeout_captured"), "k");
    expect(await read(world, metric)).toBe(60);
    expect(await read(world, 'holdfast_pass_late_seconds{pass="reconcile"}')).toBeGreaterThan(30);
    await world.reconcile();
    expect(await read(world, metric)).toBe(0);
    expect(await read(world, 'holdfast_pass_late_seconds{pass="reconcile"}')).toBe(0);
  });

  it("the age of the oldest review rises until a person decides", async () => {
    const world = await open();
    const id = await world.authorize("tok_capture_timeout_captured");
    await world.capture(id, "k");
    world.clock.advance(10_000);
    world.gateway.answersQuestions({ outcome: "mismatch", evidence: "another amount" });
    await world.reconcile();
    world.clock.advance(3_590_000);
    expect(await read(world, "holdfast_operations_in_review")).toBe(1);
    expect(await read(world, "holdfast_reviews_oldest_seconds")).toBe(3_600);
    const capture = (await world.payment(id)).facts.operations.find(({ kind }) => kind === "capture");
    world.gateway.answersQuestions({ outcome: "unknown", reason: "silent" });
    await world.review(capture!.id);
    expect(await read(world, "holdfast_reviews_oldest_seconds")).toBe(0);
  });

  it("a refused release is counted for as long as it is tried again, and how late the releases are is told", async () => {
    const world = await open();
    await world.authorize();
    world.gateway.next("void", async () => ({ outcome: "declined", reason: "account_frozen" }));
    world.clock.advance(HOUR_MS + 5 * 60_000 + 30_000);
    expect(await read(world, 'holdfast_pass_late_seconds{pass="expire"}')).toBe(30);
    expect(await read(world, "holdfast_releases_refused")).toBe(0);
    await world.expire();
    expect(await read(world, 'holdfast_pass_late_seconds{pass="expire"}')).toBe(0);
    expect(await read(world, "holdfast_releases_refused")).toBe(1);
    // It is refused, and not unknown.
    expect(await read(world, "holdfast_operations_oldest_unknown_seconds")).toBe(0);
  });
});

test("each question to the gateway is timed by what was asked and answered, and a rejection is told", async () => {
  const registry = new Registry();
  const world = new PaymentsWorld();
  const gateway = watchedGateway(world.simulated, gatewayMetrics(registry));
  Object.assign(world.context, { gateway });
  await world.captured();
  const declined = await world.authorize("tok_capture_decline");
  await world.capture(declined, "k").catch(() => {});
  const failing = Object.assign(Object.create(world.simulated) as typeof world.simulated, {
    void: () => Promise.reject(new Error("a defect")),
  });
  const broken = watchedGateway(failing, gatewayMetrics(new Registry()));
  await expect(broken.void({} as never)).rejects.toThrow("a defect");
  const text = await registry.metrics();
  const count = (question: string, outcome: string) =>
    `holdfast_gateway_request_duration_seconds_count{question="${question}",outcome="${outcome}"} `;
  expect(text).toContain(`${count("authorize", "succeeded")}2`);
  expect(text).toContain(`${count("capture", "succeeded")}1`);
  expect(text).toContain(`${count("capture", "declined")}1`);
});

test("writes that share a commit of SQLite are counted together", async () => {
  const { sqlite, close } = await temporarySqlite();
  const registry = new Registry();
  storeMetrics(registry, { onCommit: (listener) => (sqlite.onCommit = listener) });
  const payments = new SqlitePaymentRepository(sqlite);
  await Promise.all([1, 2, 3].map(() => payments.save(authorizedPayment(), "new")));
  const text = await registry.metrics();
  expect(text).toContain("holdfast_store_commit_writes_sum 3\n");
  expect(text).toContain("holdfast_store_commit_writes_count 1\n");
  await close();
});

describeWithPostgresSchemas("a pool of connections", (server) => {
  it("what waits for a connection of PostgreSQL is timed", async () => {
    const postgres = await migratedPostgres(server.url, { maxConnections: 1 });
    const registry = new Registry();
    storeMetrics(registry, {
      connections: () => postgres.connections,
      onConnection: (listener) => (postgres.onConnection = listener),
    });
    const query = postgres.queries.selectFrom("schema_migrations").select("version").compile();
    await Promise.all([1, 2, 3].map(() => postgres.rows(query)));
    const text = await registry.metrics();
    expect(text).toContain("holdfast_store_connection_wait_seconds_count 3\n");
    expect(text).toContain('holdfast_store_connections{state="max"} 1\n');
    await postgres.close();
  });
});

test("no metric has the id of anything, or a merchant, among its labels", async () => {
  const registry = new Registry();
  const world = new PaymentsWorld();
  serverMetrics(registry, world.context.payments, world.clock, { connections: () => ({ open: 1 }) });
  const gateway = watchedGateway(world.simulated, gatewayMetrics(registry));
  Object.assign(world.context, { gateway });
  const id = await world.captured();
  const text = await registry.metrics();
  expect(text).toContain("nodejs_eventloop_lag_p99_seconds");
  expect(text).not.toContain(id);
  expect(text).not.toContain(world.merchant);
});
