import { eventually, HoldfastCli } from "../../support/program/holdfast-cli";
import { TraceCollector, valueOf, type CollectedSpan } from "../../support/receivers/trace-collector";
import { describeWithPostgres } from "../../support/servers/servers";
import { WebhookReceiver } from "../../support/receivers/webhook-receiver";

jest.setTimeout(60_000);
const holdfast = new HoldfastCli();
let collector: TraceCollector;
beforeEach(async () => {
  collector = await TraceCollector.start();
});
afterEach(() => collector.close());

/** Spans go to the collector almost at once: the process is about to be killed. */
const soon = { OTEL_BSP_SCHEDULE_DELAY: "20" };
const serve = (more: readonly string[], env: NodeJS.ProcessEnv = {}) =>
  holdfast.start(["serve", "--port", "0", "--shutdown-delay", "0", "--trace", collector.url, ...more], {
    ...soon,
    ...env,
  });

async function post(url: string, path: string, body: object, headers: object = {}) {
  const answer = await fetch(url + path, {
    method: "POST",
    headers: { "content-type": "application/json", "idempotency-key": path, ...headers },
    body: JSON.stringify(body),
  });
  return (await answer.json()) as { payment: { id: string } };
}

const authorized = async (url: string, paymentMethod: string) =>
  (await post(url, "/payments", { amount: 500, currency: "EUR", paymentMethod })).payment.id;

const arrived = (name: string, isIt: (span: CollectedSpan) => boolean = () => true) =>
  eventually(
    async () => collector.named(name).find(isIt),
    (span) => span !== undefined,
  ) as Promise<CollectedSpan>;

const inItsOwn = (root: CollectedSpan, begun: CollectedSpan): void => {
  expect(root.traceId).not.toBe(begun.traceId);
  expect(root.parentSpanId ?? "").toBe("");
};

function describeTraces(name: string, storeArgs: () => readonly string[]): void {
  test(`a process that is killed in the middle of a capture on ${name}, and another that settles it, leave two traces with a link`, async () => {
    const first = serve([...storeArgs(), "--pass-interval", "0"]);
    const url = await first.url();
    const id = await authorized(url, "tok_slow_2000");
    const path = `/payments/${id}/capture`;
    const capture = post(url, path, {}).catch(() => null);
    const authorization = await arrived("POST /payments");
    const begun = await arrived("intent", ({ traceId }) => traceId !== authorization.traceId);
    await first.end("SIGKILL");
    expect(await capture).toBeNull();

    const second = serve([...storeArgs(), "--pass-interval", "0"]);
    await post(await second.url(), path, {});
    const root = await arrived("POST /payments/:paymentId/capture");
    inItsOwn(root, begun);
    const settled = await arrived(
      "settlement",
      (span) => span.traceId === root.traceId && hasLink(span, begun),
    );
    expect(settled.service).not.toBe(begun.service);
    // The killed one never ended its request, and nothing of its trace is lost but that.
    expect(
      collector.spans.filter(({ traceId }) => traceId === begun.traceId).map((span) => span.name),
    ).toEqual(expect.arrayContaining(["wait for lock", "intent"]));
    expect(collector.spans.filter((span) => span.name.includes(id))).toEqual([]);
    // Before its database is dropped.
    await second.end("SIGKILL");
  });

  test(`what the reconciler settles on ${name} is a trace of its own, with a link to the request that began it`, async () => {
    const server = serve([...storeArgs(), "--pass-interval", "1"]);
    const url = await server.url();
    const id = await authorized(url, "tok_timeout_captured");
    await post(url, `/payments/${id}/capture`, {});
    const begun = await arrived("POST /payments/:paymentId/capture");
    const reconciled = await arrived("reconcile");
    inItsOwn(reconciled, begun);
    expect(hasLink(reconciled, begun)).toBe(true);
    await arrived("settlement", (span) => span.traceId === reconciled.traceId && hasLink(span, begun));
    await arrived("gateway find", ({ traceId }) => traceId === reconciled.traceId);
    await server.end("SIGKILL");
  });
}

const hasLink = ({ links = [] }: CollectedSpan, to: CollectedSpan): boolean =>
  links.some(({ traceId }) => traceId === to.traceId);

describeTraces("SQLite", () => ["--store", "sqlite:data.db"]);

describeWithPostgres("traces on PostgreSQL", (server) => {
  describeTraces("PostgreSQL", () => ["--store", server.url]);
});

test("a capture is one trace: the request, the wait for the lock, the section, the intent, the gateway and the settlement; a webhook's delivery is a trace of its own, with a link to the request that its event comes from", async () => {
  const receiver = await WebhookReceiver.open();
  const more = ["--pass-interval", "0", "--log-level", "info", "--webhooks-allow", "http,private"];
  const server = serve(["--store", "sqlite:data.db", ...more]);
  const url = await server.url();
  const id = await authorized(url, "tok_ok");
  const theirs = "0af7651916cd43dd8448eb211c80319c";
  await post(url, `/payments/${id}/capture`, {}, { traceparent: `00-${theirs}-b7ad6b7169203331-01` });
  const request = await arrived("POST /payments/:paymentId/capture");
  expect(request).toMatchObject({ traceId: theirs, parentSpanId: "b7ad6b7169203331", kind: 2 });
  expect(valueOf(request, "http.request.method")).toBe("POST");
  expect(valueOf(request, "http.route")).toBe("/payments/:paymentId/capture");
  await arrived("section", ({ traceId }) => traceId === theirs);
  const spans = collector.spans.filter(({ traceId }) => traceId === theirs);
  expect(spans.map(({ name }) => name).sort()).toEqual([
    "POST /payments/:paymentId/capture",
    "gateway capture",
    "intent",
    "section",
    "settlement",
    "wait for lock",
  ]);
  const settled = spans.find(({ name }) => name === "settlement")!;
  expect(valueOf(settled, "db.system.name")).toBe("sqlite");
  // What began in this trace needs no link to it.
  expect(settled.links ?? []).toEqual([]);
  await server.said(new RegExp(`"trace_id":"${theirs}".*"path":"/payments/${id}/capture"`));
  try {
    await post(url, "/webhook-endpoints", { url: receiver.url, types: ["payment.refunded"] });
    await post(url, `/payments/${id}/refunds`, {});
    const delivered = await arrived("deliver webhook");
    const refund = await arrived("POST /payments/:paymentId/refunds");
    expect(delivered.traceId).not.toBe(refund.traceId);
    expect(delivered.links).toMatchObject([{ traceId: refund.traceId }]);
  } finally {
    await receiver.close();
  }
});

test("what is not sampled leaves no span, and nothing in the store that a later trace would refer to", async () => {
  const env = { OTEL_TRACES_SAMPLER: "parentbased_always_off" };
  const server = serve(["--store", "sqlite:data.db"], env);
  const url = await server.url();
  const id = await authorized(url, "tok_ok");
  await post(url, `/payments/${id}/capture`, {});
  await server.end("SIGTERM");
  expect(collector.spans).toEqual([]);
});

test("a collector that does not answer keeps no capture, and no server from ending", async () => {
  const url = collector.url;
  await collector.close();
  const server = holdfast.start(
    ["serve", "--port", "0", "--shutdown-delay", "0", "--trace", url, "--store", "memory:"],
    soon,
  );
  const at = await server.url();
  const id = await authorized(at, "tok_ok");
  expect(await post(at, `/payments/${id}/capture`, {})).toMatchObject({ payment: { status: "captured" } });
  expect(await server.end("SIGTERM")).toMatchObject({ status: 0 });
  collector = await TraceCollector.start();
});
