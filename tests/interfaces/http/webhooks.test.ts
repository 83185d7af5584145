import { randomBytes, randomUUID } from "node:crypto";
import { Webhook } from "standardwebhooks";
import { ManageWebhookEndpoints } from "../../../src/application/webhooks/manage-webhook-endpoints";
import { GuardedDestinations } from "../../../src/infrastructure/webhooks/guarded-destinations";
import { expectProblem } from "../../support/http-expectations";
import { HttpWorld, type HttpAnswer } from "../../support/worlds/http-world";
import { answered, WebhookWorld } from "../../support/worlds/webhook-world";
import type { ProblemCode } from "../../../src/interfaces/http/problems/problem-table";

const URL_OF_ACME = "https://hooks.acme.example/in";
const UNKNOWN = "019aa2b4-7c00-7d3a-9c55-3f1f6b8a2e01";

describe("webhook endpoints over HTTP", () => {
  let http: HttpWorld;
  let webhooks: WebhookWorld;
  let acme: Record<string, string>;
  let other: Record<string, string>;
  let operator: Record<string, string>;
  let operatorElsewhere: Record<string, string>;

  beforeEach(async () => {
    webhooks = new WebhookWorld();
    const destinations = new GuardedDestinations({ http: false, private: false }, (_host, done) =>
      done(null, []),
    );
    const endpoints = new ManageWebhookEndpoints({
      ...webhooks.context,
      destinations,
      randomBytes,
      onListening: () => {},
    });
    http = await new HttpWorld({
      app: { webhooks: { webhookEndpoints: endpoints, webhookDeliveries: webhooks.deliveries } },
    }).open();
    const key = (secret: string, merchant: string, isOperator = false) => {
      http.keys.add(secret, merchant, isOperator);
      return { authorization: `Bearer ${secret}` };
    };
    acme = key("key-of-acme", "acme");
    other = key("key-of-other", "other");
    operator = key("key-of-operator", "acme", true);
    operatorElsewhere = key("key-of-operator-elsewhere", "other", true);
  });
  afterEach(() => http.close());

  const post = (path: string, body?: unknown, headers = acme) => http.call("POST", path, { body, headers });
  const patch = (path: string, body: unknown, headers = acme) => http.call("PATCH", path, { body, headers });
  const create = (wish: object = {}, headers = acme) =>
    post("/webhook-endpoints", { url: URL_OF_ACME, ...wish }, headers);
  const made = async (wish: object = {}): Promise<{ path: string; id: string; secret: string }> => {
    const { status, body } = await create(wish);
    expect(status).toBe(201);
    return { path: `/webhook-endpoints/${body.endpoint.id}`, id: body.endpoint.id, secret: body.secret };
  };
  const stored = async (headers = acme) =>
    (await http.get("/webhook-endpoints", headers)).body.data as object[];

  it("are made, with a secret that is shown this once", async () => {
    const answer = await create({ types: ["payment.captured"], description: "till 3" });
    expect(answer.body).toMatchObject({
      endpoint: {
        url: URL_OF_ACME,
        types: ["payment.captured"],
        description: "till 3",
        ordered: true,
        enabled: true,
      },
      secret: expect.stringMatching(/^whsec_[A-Za-z0-9+/]{43}=$/),
    });
    const path = answer.headers.get("location")!;
    const shown = [
      await http.get(path, acme),
      await http.get("/webhook-endpoints", acme),
      await patch(path, {}),
    ];
    const secret = answer.body.secret as string;
    for (const { body } of shown) expect(JSON.stringify(body)).not.toContain(secret.slice(6));
    expect(JSON.stringify(webhooks.store.content())).not.toContain(secret.slice(6));
    expect(http.logLines.join("\n")).not.toContain(secret.slice(6));
  });

  it.each<[ProblemCode, object]>([
    ["webhook_url_malformed", { url: "hooks" }],
    ["webhook_url_malformed", { url: "" }],
    ["webhook_url_malformed", { url: "https://a.example/#x" }],
    ["webhook_url_not_https", { url: "http://a.example/" }],
    ["webhook_url_has_credentials", { url: "https://a:b@a.example/" }],
    ["webhook_url_port_forbidden", { url: "https://a.example:25/" }],
    ["webhook_url_address_forbidden", { url: "https://127.0.0.1/" }],
    ["webhook_url_address_forbidden", { url: "https://[::ffff:10.0.0.1]/" }],
    ["webhook_type_unknown", { types: ["payment.captured", "payment.exploded"] }],
    ["invalid_request", { url: 7 }],
    ["invalid_request", { types: [] }],
    ["invalid_request", { types: "payment.captured" }],
    ["invalid_request", { ordered: "yes" }],
    ["invalid_request", { description: "\u0000" }],
    ["invalid_request", { secret: "whsec_mine" }],
  ])("are refused as %s, and nothing is stored: %j", async (code, wish) => {
    expectProblem(await create(wish), 400, code);
    expect(await stored()).toEqual([]);
    const { path } = await made();
    expectProblem(await patch(path, wish), 400, code);
    expect(await stored()).toMatchObject([
      { url: URL_OF_ACME, types: null, ordered: true, description: null },
    ]);
  });

  it.each([
    ["to others they do not exist", () => other],
    ["to an operator of another merchant neither", () => operatorElsewhere],
  ])("belong to their merchant: %s", async (_, stranger) => {
    const { path, id } = await made();
    expect((await post(`${path}/test`)).status).toBe(202);
    const [delivery] = await webhooks.all({ id } as never);
    expect(await stored(stranger())).toEqual([]);
    const between = { from: "2026-01-01T00:00:00Z", to: "2027-01-01T00:00:00Z" };
    const tries: (() => Promise<HttpAnswer>)[] = [
      () => http.get(path, stranger()),
      () => patch(path, {}, stranger()),
      () => http.call("DELETE", path, { headers: stranger() }),
      () => post(`${path}/rotate-secret`, {}, stranger()),
      () => post(`${path}/test`, undefined, stranger()),
      () => post(`${path}/replay`, between, stranger()),
      () => http.get(`${path}/deliveries`, stranger()),
    ];
    for (const attempt of tries) expectProblem(await attempt(), 404, "webhook_endpoint_not_found");
    expectProblem(
      await post(`/webhook-deliveries/${delivery?.id}/redeliver`, undefined, stranger()),
      404,
      "webhook_delivery_not_found",
    );
    expect(await stored()).toHaveLength(1);
  });

  it("of an operator's own merchant are the operator's, too, and no others", async () => {
    const { id } = await made();
    expect((await create({}, operatorElsewhere)).status).toBe(201);
    expect(await stored(operator)).toEqual([expect.objectContaining({ id })]);
    expect(await stored(operatorElsewhere)).toEqual(await stored(other));
    expect(await stored(other)).toHaveLength(1);
  });

  it("are asked for by ids that are ids", async () => {
    expectProblem(await http.get("/webhook-endpoints/x", acme), 400, "invalid_webhook_endpoint_id");
    expectProblem(await http.get(`/webhook-endpoints/${UNKNOWN}`, acme), 404, "webhook_endpoint_not_found");
    expectProblem(await post("/webhook-deliveries/x/redeliver"), 400, "invalid_webhook_delivery_id");
    expectProblem(await post(`/webhook-deliveries/${UNKNOWN}/redeliver`), 404, "webhook_delivery_not_found");
  });

  it("are listed page by page, and by no other list's cursor", async () => {
    for (let at = 0; at < 3; at += 1) await made({ description: `d${at}` });
    const first = (await http.get("/webhook-endpoints?limit=2", acme)).body;
    const second = (await http.get(`/webhook-endpoints?limit=2&cursor=${first.nextCursor}`, acme)).body;
    expect([...first.data, ...second.data].map(({ description }) => description)).toEqual(["d0", "d1", "d2"]);
    expect(second.nextCursor).toBeNull();
    expectProblem(await http.get("/webhook-endpoints?cursor=abc", acme), 400, "invalid_webhook_cursor");
    const { path } = await made();
    expectProblem(await http.get(`${path}/deliveries?cursor=abc`, acme), 400, "invalid_webhook_cursor");
    expectProblem(await http.get(`${path}/deliveries?status=lost`, acme), 400, "invalid_request");
  });

  it("change, are disabled and enabled, and are gone when they are deleted", async () => {
    const { path } = await made({ types: ["payment.captured"] });
    expect((await patch(path, { types: null, ordered: false })).body.endpoint).toMatchObject({
      types: null,
      ordered: false,
      url: URL_OF_ACME,
    });
    expect((await patch(path, { enabled: false })).body.endpoint).toMatchObject({
      enabled: false,
      disabledReason: "merchant",
    });
    for (const [route, body] of [
      ["test", undefined],
      ["replay", { from: "2026-01-01T00:00:00Z", to: "2026-01-01T00:00:00Z" }],
    ] as const) {
      expectProblem(await post(`${path}/${route}`, body), 409, "webhook_endpoint_disabled");
    }
    expect((await patch(path, { enabled: true })).body.endpoint).toMatchObject({
      enabled: true,
      disabledAt: null,
    });
    expect((await http.call("DELETE", path, { headers: acme })).status).toBe(200);
    expectProblem(await http.get(path, acme), 404, "webhook_endpoint_not_found");
  });

  it("get another secret, with an overlap of at most 30 days", async () => {
    const { path, secret } = await made();
    const rotated = await post(`${path}/rotate-secret`, { overlapSeconds: 60 });
    expect(rotated.body.secret).toMatch(/^whsec_/);
    expect(rotated.body.secret).not.toBe(secret);
    expect(rotated.body.endpoint.previousSecretUntil).toBe(
      new Date(webhooks.clock.now().getTime() + 60_000).toISOString(),
    );
    expectProblem(await post(`${path}/rotate-secret`, { overlapSeconds: -1 }), 400, "invalid_request");
    expectProblem(await post(`${path}/rotate-secret`, { overlapSeconds: 2_592_001 }), 400, "invalid_request");
    const atOnce = await post(`${path}/rotate-secret`, { overlapSeconds: 0 });
    expect(atOnce.body.endpoint.previousSecretUntil).toBeNull();
  });

  it("get no third secret while an overlap runs, unless both before are to be void at once", async () => {
    const { path, secret } = await made();
    await post(`${path}/rotate-secret`, { overlapSeconds: 60 });
    const previousSecretUntil = new Date(webhooks.clock.now().getTime() + 60_000).toISOString();
    const problem = expectProblem(await post(`${path}/rotate-secret`, {}), 409, "rotation_under_way");
    expect(problem).toMatchObject({ previousSecretUntil, retryable: false });
    webhooks.publish();
    await webhooks.dispatch.drain();
    const { body, headers } = webhooks.receivers.to(URL_OF_ACME)[0]!;
    expect(() => new Webhook(secret).verify(body, { ...headers })).not.toThrow();
    expect((await post(`${path}/rotate-secret`, { overlapSeconds: 0 })).status).toBe(200);
    expect((await post(`${path}/rotate-secret`, { overlapSeconds: 60 })).status).toBe(200);
    webhooks.clock.forwardTo(new Date(webhooks.clock.now().getTime() + 60_000));
    expect((await post(`${path}/rotate-secret`, { overlapSeconds: 60 })).status).toBe(200);
  });

  it("are tried by an event that goes the way of every other", async () => {
    const { path, id } = await made({ types: ["payment.captured"] });
    webhooks.receivers.answer(URL_OF_ACME, () => answered(500, { answer: "the inside of a network" }));
    const sent = await post(`${path}/test`);
    expect(sent).toMatchObject({
      status: 202,
      body: { delivery: { endpointId: id, type: "webhook_endpoint.test", status: "pending", attempts: 0 } },
    });
    await webhooks.dispatch.drain();
    const [told] = (await http.get(`${path}/deliveries?status=pending`, acme)).body.data;
    expect(told).toMatchObject({ attempts: 1, lastAttempt: { status: 500, failure: "status" } });
    expect(JSON.stringify(told)).not.toContain("the inside");
    const [toldToOperator] = (await http.get(`${path}/deliveries`, operator)).body.data;
    expect(toldToOperator.lastAttempt.answer).toBe("the inside of a network");
  });

  it("are delivered to once more, one event or all of a time", async () => {
    const { path } = await made();
    const payment = randomUUID();
    const ids = [
      webhooks.publish("payment.authorized", payment),
      webhooks.publish("payment.captured", payment),
    ];
    await webhooks.dispatch.drain();
    const [, first] = (await http.get(`${path}/deliveries?status=delivered`, acme)).body.data;
    const again = await post(`/webhook-deliveries/${first.id}/redeliver`);
    expect(again).toMatchObject({
      status: 202,
      body: { delivery: { status: "pending", attempts: 0, eventId: ids[0] } },
    });
    expectProblem(await post(`/webhook-deliveries/${first.id}/redeliver`), 409, "webhook_delivery_pending");
    await webhooks.dispatch.drain();
    const now = webhooks.clock.now().getTime();
    const [from, to] = [new Date(now - 1_000).toISOString(), new Date(now + 1_000).toISOString()];
    expect((await post(`${path}/replay`, { from, to })).body).toEqual({ replayed: 2 });
    await webhooks.dispatch.drain();
    expect(webhooks.receivers.sent.map(({ id }) => id)).toEqual([...ids, ids[0], ...ids]);
    expect(new Set(webhooks.receivers.sent.map(({ id, body }) => `${id}${body}`)).size).toBe(2);
    expect((await post(`${path}/replay`, { from: to, to })).body).toEqual({ replayed: 0 });
    expectProblem(await post(`${path}/replay`, { from: to, to: from }), 400, "invalid_request");
    expectProblem(await post(`${path}/replay`, { from: "yesterday", to }), 400, "invalid_request");
  });

  it("are refused in words where the server has no key for secrets", async () => {
    webhooks.keys = "none";
    const problem = expectProblem(await create(), 503, "secrets_key_missing");
    expect(problem.detail).toContain("32 bytes");
    expect(await stored()).toEqual([]);
  });
});
