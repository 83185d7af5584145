import { Registry } from "prom-client";
import type { LockTimeoutPolicy } from "../../../src/application/ports/lock-timeout";
import { expectProblem } from "../../support/http-expectations";
import { sendRaw } from "../../support/program/raw-http";
import { HttpWorld, type HttpWorldParts } from "../../support/worlds/http-world";

let http: HttpWorld;
async function open(parts: HttpWorldParts = {}): Promise<void> {
  http = await new HttpWorld(parts).open();
}
afterEach(() => http.close());

function idsIn(page: { data: readonly { id: string }[] }): string[] {
  return page.data.map(({ id }) => id);
}

describe("authorizing", () => {
  beforeEach(() => open());

  const body = { amount: 1_250, currency: "eur", paymentMethod: "tok_ok" };
  const authorize = (change: object = {}, key = "a") =>
    http.call("POST", "/payments", { headers: { "idempotency-key": key }, body: { ...body, ...change } });

  test("reserves the amount, and says where the payment is", async () => {
    const answer = await authorize({ reference: "order-1", metadata: { basket: "7" }, expiresIn: 60 });
    expect(answer.status).toBe(201);
    const { payment } = answer.body;
    expect(answer.headers.get("location")).toBe(`/payments/${payment.id}`);
    expect(payment).toMatchObject({
      status: "authorized",
      amount: 1_250,
      currency: "EUR",
      amountCapturable: 1_250,
      reference: "order-1",
      metadata: { basket: "7" },
      expiresAt: "2026-03-01T12:01:00.000Z",
    });
    const inUpperCase = String(payment.id).toUpperCase();
    expect((await http.get(`/payments/${inUpperCase}`)).body).toEqual(answer.body);
  });

  test("authorizing lasts for seven days unless told otherwise", async () => {
    expect((await authorize()).body.payment.expiresAt).toBe("2026-03-08T12:00:00.000Z");
  });

  test("authorizing with one key, however often and at once: one payment", async () => {
    const answers = await Promise.all(Array.from({ length: 20 }, () => authorize()));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([201]));
    expect(new Set(answers.map((answer) => JSON.stringify(answer.body))).size).toBe(1);
    expect((await http.get("/payments")).body.data).toHaveLength(1);
    expect((await authorize()).headers.get("idempotency-replayed")).toBe("true");
  });

  test("authorizing with a known key and another body: refused", async () => {
    await authorize();
    expectProblem(await authorize({ amount: 1_251 }), 422, "idempotency_key_reused");
    expectProblem(await authorize({ metadata: { a: "b" } }), 422, "idempotency_key_reused");
  });

  test("declined: the payment is there to be looked at, and the key is bound", async () => {
    const { paymentId } = expectProblem(
      await authorize({ paymentMethod: "tok_decline" }),
      402,
      "authorization_declined",
    );
    expect((await http.get(`/payments/${paymentId}`)).body.payment.status).toBe("declined");
    const again = await authorize({ paymentMethod: "tok_decline" });
    expectProblem(again, 402, "authorization_declined");
    expect(again.headers.get("idempotency-replayed")).toBe("true");
  });

  test("unknown: accepted, and the same key asks again", async () => {
    const paymentMethod = "tok_authorize_timeout_captured";
    const first = await authorize({ paymentMethod });
    expect({ status: first.status, retryAfter: first.headers.get("retry-after") }).toEqual({
      status: 202,
      retryAfter: "2",
    });
    expect(first.body.payment).toMatchObject({ status: "authorizing", authorizedAt: null });
    http.world.clock.advance(2_000);
    const later = await authorize({ paymentMethod });
    expect(later.status).toBe(201);
    expect(later.body.payment).toMatchObject({ id: first.body.payment.id, status: "authorized" });
  });

  test("authorizing not reached: nothing happened, and the same key may try again", async () => {
    const paymentMethod = "tok_authorize_unreachable";
    expectProblem(await authorize({ paymentMethod }), 503, "gateway_unavailable", "5");
    expect((await authorize({ paymentMethod })).status).toBe(201);
  });

  test.each([
    ["amount", 0],
    ["amount", 1_000_000_000_000],
    ["amount", undefined],
    ["currency", "EURO"],
    ["currency", "QQQ"],
    ["paymentMethod", ""],
    ["paymentMethod", "x".repeat(256)],
    ["paymentMethod", "tok\u0000ok"],
    ["reference", "x".repeat(256)],
    ["reference", ""],
    ["reference", null],
    ["reference", "\ud800"],
    ["metadata", { a: 1 }],
    ["metadata", { "": "x" }],
    ["metadata", { a: "x".repeat(501) }],
    ["metadata", { a: "line\nbreak" }],
    ["metadata", Object.fromEntries(Array.from({ length: 51 }, (_, n) => [`k${n}`, "v"]))],
    ["metadata", []],
    ["expiresIn", 0],
    ["expiresIn", 31 * 86_400 + 1],
    ["expiresIn", 1.5],
    ["gateway", "stripe"],
  ])("authorizing refuses a bad %s (%j), by its name", async (field, value) => {
    const { errors } = expectProblem(await authorize({ [field]: value }), 400, "invalid_request");
    expect(errors[0].pointer).toContain(`/${field}`);
    expect((await http.get("/payments")).body.data).toHaveLength(0);
  });
});

describe("listing", () => {
  beforeEach(() => open());

  test("newest first, page after page, each payment once", async () => {
    const ids: string[] = [];
    for (let n = 0; n < 5; n += 1) {
      ids.unshift(await http.authorize());
      http.world.clock.advance(1);
    }
    const found: string[] = [];
    let cursor: string | null = null;
    do {
      const { body } = await http.get(`/payments?limit=2${cursor === null ? "" : `&cursor=${cursor}`}`);
      found.push(...idsIn(body));
      cursor = body.nextCursor;
    } while (cursor !== null);
    expect(found).toEqual(ids);
  });

  test("listing by status, reference and time", async () => {
    const first = await http.authorize({ reference: "Ä/1 & 2" });
    http.world.clock.advance(60_000);
    const second = await http.authorize();
    await http.capture(second, "k");
    const ids = async (query: string) => idsIn((await http.get(`/payments?${query}`)).body);
    expect(await ids("status=captured")).toEqual([second]);
    expect(await ids(`reference=${encodeURIComponent("Ä/1 & 2")}`)).toEqual([first]);
    expect(await ids("createdFrom=2026-03-01T12:01:00Z")).toEqual([second]);
    expect(await ids("createdTo=2026-03-01T13:01:00%2B01:00")).toEqual([first]);
    expect(await ids("status=voided")).toEqual([]);
  });

  test.each([
    "limit=0",
    "limit=101",
    "limit=ten",
    "limit=1e1",
    "limit=%201",
    "limit=1&limit=2",
    "cursor=",
    "cursor=nonsense",
    "cursor=%00",
    "status=lost",
    "reference=",
    "reference=%00",
    "createdFrom=yesterday",
    "createdFrom=2026-02-30T00:00:00Z",
    "createdTo=2026-03-01",
    "page=2",
    "__proto__=1",
    "limit[]=1",
  ])("listing refuses ?%s, and names the parameter", async (query) => {
    const { errors } = expectProblem(await http.get(`/payments?${query}`), 400, "invalid_request");
    expect(errors).toHaveLength(1);
    expect(query.startsWith(errors[0].parameter)).toBe(true);
  });
});

describe("on every route", () => {
  beforeEach(() => open({ app: { metrics: new Registry() } }));

  test("a method that it does not know is answered with those it knows", async () => {
    const id = "018f3a9e-0000-7000-8000-000000000000";
    for (const [path, allow] of [
      ["/payments", "POST, GET, HEAD"],
      [`/payments/${id}`, "GET, HEAD"],
      [`/payments/${id}/events`, "GET, HEAD"],
      [`/payments/${id}/capture`, "POST"],
      [`/gateway/payments/${id}`, "GET, HEAD"],
      [`/gateway/payments/${id}/observe`, "POST"],
      ["/healthz", "GET, HEAD"],
      ["/readyz", "GET, HEAD"],
      ["/metrics", "GET, HEAD"],
      ["/openapi.json", "GET, HEAD"],
      ["/docs", "GET, HEAD"],
    ] as const) {
      for (const method of ["DELETE", "PUT", "OPTIONS"]) {
        const answer = await http.call(method, path);
        expectProblem(answer, 405, "method_not_allowed");
        expect(answer.headers.get("allow")).toBe(allow);
      }
    }
  });

  test("what is not there is not found", async () => {
    for (const path of [
      "/",
      "/payment",
      "/payments/x/y/z",
      "/gateway",
      "/sandbox",
      "/docs/../package.json",
      "/docs/swagger-ui.js.map",
    ]) {
      expectProblem(await http.get(path), 404, "route_not_found");
    }
  });

  test("a path that cannot be decoded is malformed", async () => {
    for (const path of ["/payments/%zz", "/payments/%", "/payments/%ff/capture"]) {
      const method = path.endsWith("capture") ? "POST" : "GET";
      expectProblem(await http.call(method, path), 400, "malformed_request");
    }
  });

  test("a harmless request id is kept, junk is replaced, and each answer has one", async () => {
    const kept = await http.get("/healthz", { "x-request-id": "trace-1.a_B" });
    expect(kept.headers.get("x-request-id")).toBe("trace-1.a_B");
    for (const junk of ["", "a b", "<script>", "x".repeat(65), "a, b"]) {
      const { headers } = await http.get("/healthz", { "x-request-id": junk });
      expect(headers.get("x-request-id")).toMatch(/^[0-9a-f-]{36}$/);
    }
  });

  test("nothing tells what it is made with, and nothing is cached", async () => {
    const { headers } = await http.get("/payments");
    expect(headers.get("x-powered-by")).toBeNull();
    expect(headers.get("etag")).toBeNull();
    expect(headers.get("cache-control")).toBe("no-store");
    expect(headers.get("x-content-type-options")).toBe("nosniff");
  });

  test("no answer may be framed or run as a page, and behind TLS a browser is told to stay there", async () => {
    const id = await http.authorize();
    const paths = [
      "/payments",
      `/payments/${id}`,
      "/payments/none",
      "/none",
      "/healthz",
      "/metrics",
      "/openapi.json",
    ];
    for (const path of paths) {
      const { headers } = await http.get(path);
      expect([path, headers.get("content-security-policy")]).toEqual([
        path,
        "default-src 'none'; frame-ancestors 'none'",
      ]);
    }
    for (const path of [...paths, "/docs", "/docs/swagger-ui.css"]) {
      for (const [protocol, told] of [
        ["https", "max-age=31536000"],
        ["HTTP, HTTPS", "max-age=31536000"],
        ["https, http", null],
        ["http", null],
      ] as const) {
        const { headers } = await http.get(path, { "x-forwarded-proto": protocol });
        expect([path, protocol, headers.get("strict-transport-security")]).toEqual([path, protocol, told]);
      }
      expect((await http.get(path)).headers.get("strict-transport-security")).toBeNull();
    }
    const { headers } = await sendRaw(http.port, "nonsense\r\n\r\n");
    expect(headers.get("content-security-policy")).toBe("default-src 'none'; frame-ancestors 'none'");
    expect(headers.get("cache-control")).toBe("no-store");
  });

  test("a problem names the path that was asked as a URI, without the query", async () => {
    const { instance } = (await http.get("/none/%22%3Cb%3E?secret=1")).body;
    expect(instance).toBe("/none/%22%3Cb%3E");
  });

  test("requests are counted by route, whatever ids they name", async () => {
    const id = await http.authorize();
    await http.get(`/payments/${id}`);
    await http.get("/none");
    const { body } = await http.get("/metrics");
    expect(body).toContain('{method="GET",route="/payments/:paymentId",status="200"} 1');
    expect(body).toContain('{method="GET",route="none",status="404"} 1');
    expect(body).not.toContain(id);
  });
});

describe("the documentation page", () => {
  beforeEach(() => open());

  test("loads its own files only, under a policy that forbids all others", async () => {
    const page = await http.get("/docs");
    const policy = page.headers.get("content-security-policy") ?? "";
    expect(policy).toContain("default-src 'self'");
    expect(policy).toContain("script-src 'self'");
    expect(policy).not.toContain("upgrade-insecure-requests");
    const files = [...(page.body as string).matchAll(/(?:src|href)="([^"]+)"/g)].map(
      ([, file]) => file ?? "",
    );
    expect(files).toHaveLength(4);
    for (const file of files) {
      expect(file).toMatch(/^docs\/[\w.-]+$/);
      expect((await http.get(`/${file}`)).status).toBe(200);
    }
    const withSlash = (await http.get("/docs/")).body as string;
    expect(withSlash).toBe((page.body as string).replaceAll('="docs/', '="'));
    expect(page.body).not.toMatch(/<script>|https?:/);
    const initializer = (await http.get("/docs/initializer.js")).body as string;
    expect(initializer).toContain('new URL("../openapi.json", document.currentScript.src)');
    expect(initializer).toContain("validatorUrl: null");
  });
});

describe("how long a request waits for the lock", () => {
  const policies: Record<string, LockTimeoutPolicy> = {
    tenSeconds: () => ({ timeout: 10_000, source: "configuration" }),
    infinite: () => ({ timeout: "infinite", source: "configuration" }),
  };

  test.each([
    ["tenSeconds", undefined, 10_000, "configuration"],
    ["tenSeconds", "wait=3", 3_000, "Prefer: wait"],
    ["tenSeconds", "wait=0", 0, "Prefer: wait"],
    ["tenSeconds", "wait=60", 10_000, "configuration"],
    ["tenSeconds", 'respond-async, WAIT="5"; a=b', 5_000, "Prefer: wait"],
    ["tenSeconds", "wait=-1", 10_000, "configuration"],
    ["tenSeconds", "wait=1.5", 10_000, "configuration"],
    ["tenSeconds", "await=1", 10_000, "configuration"],
    ["tenSeconds", "wait=soon", 10_000, "configuration"],
    ["infinite", undefined, 21_000, "the time limit of an HTTP request"],
    ["infinite", "wait=60", 21_000, "the time limit of an HTTP request"],
    ["infinite", "wait=20", 20_000, "Prefer: wait"],
  ] as const)(
    "the policy %s with Prefer: %s gives a caller %d ms to wait",
    async (policy, prefer, timeout, source) => {
      let given: unknown;
      const stop = () => Promise.reject(new Error("seen enough"));
      await open({
        lockTimeouts: policies[policy] as LockTimeoutPolicy,
        app: {
          capturePayment: {
            execute: (_command, caller) => {
              given = caller.lockTimeout;
              return stop();
            },
          },
        },
      });
      const id = "018f3a9e-0000-7000-8000-000000000000";
      await http.capture(id, "k", {}, prefer === undefined ? {} : { prefer });
      expect(given).toEqual({ timeout, source });
    },
  );
});
