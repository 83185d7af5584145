import fc from "fast-check";
import { METHODS } from "node:http";
import { problemCodes } from "../../../src/interfaces/http/problems/problem-table";
import { HttpWorld } from "../../support/worlds/http-world";
import { anyText } from "../../support/fakes/any-text";
import { size } from "../../support/test-size";
import { rawRequest, sendRaw } from "../../support/program/raw-http";

jest.setTimeout(60_000);

const RUNS = size(100, 25);
let http: HttpWorld;
let paymentId: string;

beforeAll(async () => {
  http = await new HttpWorld().open();
  paymentId = await http.authorize();
});
afterAll(() => http.close());

type Headers = (readonly [string, string])[];
interface Nonsense {
  readonly method: string;
  readonly target: string;
  readonly headers: Headers;
  readonly body?: Buffer | string;
}

const json: Headers = [["Content-Type", "application/json"]];
const key: Headers = [["Idempotency-Key", "k"]];
const card = { amount: 5, currency: "EUR", paymentMethod: "tok_ok" };

/** Both routes that take a key and a body, with what they need to be happy. */
const posts = fc.constantFrom(
  { path: () => "/payments", body: card },
  { path: () => `/payments/${paymentId}/capture`, body: {} },
);
const perId = fc.constantFrom(
  { method: "GET", before: "/payments/", after: "" },
  { method: "GET", before: "/payments/", after: "/events" },
  { method: "GET", before: "/gateway/payments/", after: "" },
  { method: "POST", before: "/gateway/payments/", after: "/observe" },
  { method: "POST", before: "/payments/", after: "/capture" },
);

const someText = anyText(60);
const pathSegment = fc.oneof(
  someText.map(encodeURIComponent),
  fc.string({
    unit: fc.constantFrom(..."!$%&'()*+,-.09:;=@AZ[\\]^_`af{|}~\"<>"),
    minLength: 1,
    maxLength: 40,
  }),
  fc.uuid().map((id) => `${id}0`),
  fc.uuid().map((id) => id.replace("-", "")),
  fc.uuid().map((id) => `${id.slice(0, 14)}f${id.slice(15)}`),
);

const badKey: fc.Arbitrary<Headers> = fc.oneof(
  fc.constant<Headers>([]),
  fc.constant<Headers>([...key, ...key]),
  fc.constantFrom<Headers>(
    [["Idempotency-Key", ""]],
    [["Idempotency-Key", '"']],
    [["Idempotency-Key", '""']],
  ),
  fc.string({ minLength: 256, maxLength: 400 }).map((text): Headers => [["Idempotency-Key", `k${text}k`]]),
  fc
    .tuple(someText, fc.constantFrom(" ", "é", "\u0000", "\u007f", "\t"))
    .map(([text, bad]): Headers => [["Idempotency-Key", `a${text.replace(/[\r\n]/g, "")}${bad}z`]]),
  fc.string({ maxLength: 20 }).map((text): Headers => [["Idempotency-Key", `"${text.replaceAll('"', "")}`]]),
);

const badAmount = fc.oneof(
  fc.integer({ max: 0 }),
  fc.integer({ min: 1_000_000_000_000, max: Number.MAX_SAFE_INTEGER }),
  fc.double({ noInteger: true, noNaN: true, noDefaultInfinity: true }),
  fc.string(),
  fc.boolean(),
  fc.constant(null),
  fc.array(fc.integer()),
  fc.object(),
);
const badCurrency = fc.oneof(
  fc.string().filter((text) => !/^[A-Za-z]{3}$/.test(text)),
  fc.constantFrom("QQQ", "ZZZ", "AAB"),
  fc.integer(),
  fc.constant(null),
  fc.array(fc.string()),
);
const unknownField = fc
  .string()
  .filter(
    (name) => !["amount", "currency", "paymentMethod", "reference", "metadata", "expiresIn"].includes(name),
  );

/** An object of the right kind with one thing wrong in it, or anything else that is JSON. */
const badBody = fc.oneof(
  fc.tuple(posts, badAmount).map(([post, amount]) => ({ post, body: { ...post.body, amount } })),
  fc.tuple(posts, badCurrency).map(([post, currency]) => ({ post, body: { ...post.body, currency } })),
  fc.tuple(posts, unknownField, fc.jsonValue()).map(([post, name, value]) => ({
    post,
    body: Object.fromEntries([...Object.entries(post.body), [name, value]]),
  })),
  fc
    .tuple(posts, fc.jsonValue())
    .filter(([, value]) => value === null || typeof value !== "object" || Array.isArray(value))
    .map(([post, body]) => ({ post, body: body })),
);

const nonsense: Record<string, fc.Arbitrary<Nonsense>> = {
  "payment ids": fc
    .tuple(perId, pathSegment)
    .map(([{ method, before, after }, id]) => ({
      method,
      target: `${before}${id}${after}`,
      headers: [...key],
    }))
    .filter(({ target }) => target !== "/payments/"),

  "idempotency keys": fc.tuple(posts, badKey).map(([{ path, body }, headers]) => ({
    method: "POST",
    target: path(),
    headers: [...json, ...headers],
    body: JSON.stringify(body),
  })),

  "JSON bodies": badBody.map(({ post, body }) => ({
    method: "POST",
    target: post.path(),
    headers: [...json, ...key],
    body: JSON.stringify(body),
  })),

  "bodies that are not JSON": fc
    .tuple(
      posts,
      fc.oneof(
        someText,
        fc.json().map((text) => text.slice(1)),
        fc.uint8Array({ minLength: 1, maxLength: 200 }).map((bytes) => Buffer.from(bytes)),
      ),
    )
    .filter(([, body]) => !isJson(body))
    .map(([{ path }, body]) => ({
      method: "POST",
      target: path(),
      headers: [...json, ...key],
      body,
    })),

  "media types": fc
    .tuple(
      posts,
      fc.oneof(
        someText,
        fc.constantFrom(
          "text/plain",
          "application/xml",
          "application/jsonp",
          "application/json; charset=x",
          "multipart/form-data; boundary=a",
        ),
      ),
    )
    .map(([{ path }, type]) => ({
      method: "POST",
      target: path(),
      headers: [["Content-Type", type.replace(/[\r\n]/g, "")], ...key] as Headers,
      body: "{ }",
    }))
    .filter(({ headers }) => headers[0]?.[1].trim().toLowerCase() !== "application/json"),

  sizes: fc.tuple(posts, fc.integer({ min: 65_537, max: 2_000_000 })).map(([{ path }, size]) => ({
    method: "POST",
    target: path(),
    headers: [...json, ...key],
    body: `{"reference":"${"x".repeat(size - 16)}"}`,
  })),

  methods: fc
    .tuple(
      fc.constantFrom(
        ...METHODS.filter((method) => !["GET", "HEAD", "POST"].includes(method)),
        "BREW",
        "get",
        "G-E-T",
        "X".repeat(100),
      ),
      fc.constantFrom(
        "/payments",
        "/payments/x",
        "/payments/x/capture",
        "/healthz",
        "/docs",
        "/openapi.json",
        "/nowhere",
      ),
    )
    .map(([method, target]) => ({
      method,
      target,
      headers: [],
    })),

  paths: fc
    .oneof(
      pathSegment,
      fc.tuple(pathSegment, pathSegment).map((parts) => parts.join("/")),
    )
    .map((path) => ({
      method: "GET",
      target: `/${path}`,
      headers: [],
    })),

  queries: fc
    .tuple(
      fc.constantFrom(
        "limit",
        "cursor",
        "status",
        "createdFrom",
        "createdTo",
        "page",
        "__proto__",
        "reference[]",
      ),
      fc.oneof(
        someText.map(encodeURIComponent),
        fc.constantFrom("%", "%zz", "%00", "-1", "0", "101", "1e3", "NaN", "9".repeat(400)),
      ),
    )
    .filter(([name, value]) => !(name === "limit" && /^0*([1-9]\d?|100)$/.test(value)))
    .map(([name, value]) => ({
      method: "GET",
      target: `/payments?${name}=${value}`,
      headers: [],
    })),

  "duplicate headers": fc
    .tuple(
      posts,
      fc.constantFrom<Headers>(
        [
          ["Content-Length", "3"],
          ["Content-Length", "4"],
        ],
        [
          ["Transfer-Encoding", "chunked"],
          ["Content-Length", "2"],
        ],
        [
          ["Host", "a"],
          ["Host", "b"],
          ["Idempotency-Key", "c"],
        ],
        [["Transfer-Encoding", "gzip, gzip"]],
        [["Content-Encoding", "gzip"]],
      ),
    )
    .map(([{ path }, headers]) => ({
      method: "POST",
      target: path(),
      headers: [...json, ...key, ...headers],
      body: "{}",
    })),
};

function isJson(body: Buffer | string): boolean {
  try {
    JSON.parse(body.toString());
    return true;
  } catch {
    return body.length === 0;
  }
}

/** All that a request could have changed. */
async function everything(): Promise<unknown> {
  const { body: payments } = await http.get("/payments?limit=100");
  const { body: events } = await http.get(`/payments/${paymentId}/events`);
  return { payments, events, moves: await http.world.simulated.totals() };
}

test.each(Object.entries(nonsense))(
  "nonsense in %s is refused with a stable code, and changes nothing",
  async (_what, requests) => {
    const before = await everything();
    await fc.assert(
      fc.asyncProperty(requests, async ({ method, target, headers, body }) => {
        const answer = await sendRaw(http.port, rawRequest(method, target, headers, body));
        expect(answer.status).toBeGreaterThanOrEqual(400);
        expect(answer.status).toBeLessThan(500);
        expect(answer.headers.get("content-type")).toContain("application/problem+json");
        const problem = JSON.parse(answer.body) as { code: never; requestId: string; status: number };
        expect(problemCodes).toContain(problem.code);
        expect(problem.status).toBe(answer.status);
        expect(answer.headers.get("x-request-id")).toBe(problem.requestId);
      }),
      { numRuns: RUNS },
    );
    expect(await everything()).toEqual(before);
    expect(http.log.filter(({ level }) => Number(level) >= 50)).toEqual([]);
  },
);

test("whatever else comes as a key when there are keys is no key", async () => {
  const closed = await new HttpWorld().open();
  closed.keys.add("secret", "acme");
  await fc.assert(
    fc.asyncProperty(
      fc.oneof(
        someText,
        someText.map((text) => `Bearer ${text}`),
        fc.constantFrom("Bearer secret2", "Bearer  ", "Bearer\tsecret"),
      ),
      async (value) => {
        const headers: Headers = [["Authorization", value.replace(/[\r\n]/g, "")]];
        const answer = await sendRaw(closed.port, rawRequest("GET", "/payments", headers));
        expect([400, 401]).toContain(answer.status);
      },
    ),
    { numRuns: RUNS },
  );
  await closed.close();
});

describe("what is not HTTP gets a problem, too", () => {
  test.each([
    ["noise", "\u0001\u0002\u0003 nothing\r\n\r\n"],
    ["a wrong version", "GET / HTTP/9.9\r\n\r\n"],
    ["TLS", Buffer.from("16030100a5010000a10303", "hex")],
    ["no host", "GET /payments HTTP/1.1\r\nConnection: close\r\n\r\n"],
    ["a folded header", "GET / HTTP/1.1\r\nHost: a\r\nX: a\r\n b: c\u0000\r\n\r\n"],
    [
      "a wrong chunk",
      "POST /payments HTTP/1.1\r\nHost: a\r\nIdempotency-Key: k\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
    ],
    ["a space in the name", "GET / HTTP/1.1\r\nHo st: a\r\n\r\n"],
    ["CONNECT", "CONNECT example.com:443 HTTP/1.1\r\nHost: example.com\r\n\r\n"],
  ])("a request of the kind %s is refused as malformed_request", async (_what, bytes) => {
    const answer = await sendRaw(http.port, bytes);
    expect(answer.status).toBe(400);
    expect(JSON.parse(answer.body)).toMatchObject({ code: "malformed_request", status: 400 });
    expect(answer.headers.get("content-type")).toContain("application/problem+json");
  });

  test("headers without end: headers_too_large", async () => {
    const answer = await sendRaw(http.port, `GET / HTTP/1.1\r\nHost: a\r\nX: ${"x".repeat(20_000)}\r\n\r\n`);
    expect(answer.status).toBe(431);
    expect(JSON.parse(answer.body)).toMatchObject({ code: "headers_too_large" });
  });

  test("random bytes: an answer or a closed door, and the server lives on", async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ minLength: 1, maxLength: 300 }), async (bytes) => {
        // Empty lines before a request are none of it: the server goes on waiting for one.
        fc.pre(bytes.some((byte) => byte !== 10 && byte !== 13));
        const answer = await sendRaw(http.port, Buffer.concat([bytes, Buffer.from("\r\n\r\n")]));
        expect(answer.status).toBe(400);
      }),
      { numRuns: RUNS },
    );
    expect((await http.get("/healthz")).status).toBe(200);
  });
});
