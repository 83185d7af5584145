import { MAX_CAPTURES } from "../../../../src/interfaces/http/endpoints/captures/capture-item";
import { size } from "../../../support/test-size";
import { describeWithEveryStore } from "../../../support/worlds/every-store";
import { HttpWorld, type HttpAnswer } from "../../../support/worlds/http-world";

jest.setTimeout(60_000);

/** Payments of their own; as many captures as there may be come for one payment, below. */
const MANY = size(MAX_CAPTURES, 40);

interface Result {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | number>>;
  readonly body: {
    readonly code?: string;
    readonly capture: { readonly status: string };
    readonly payment: { readonly id: string };
  };
}

describeWithEveryStore("many captures in one request", (openStore) => {
  let http: HttpWorld;
  beforeEach(async () => {
    http = await new HttpWorld(await openStore()).open();
  });
  afterEach(() => http.close());

  const resultsOf = ({ status, body }: HttpAnswer): Result[] => {
    expect(status).toBe(207);
    return body.results as Result[];
  };
  /** Not all at once: on a busy machine the last of them would outlive a request's time. */
  const authorizedMany = async (count: number): Promise<string[]> => {
    const ids: string[] = [];
    while (ids.length < count) {
      const next = Array.from({ length: Math.min(50, count - ids.length) }, () => http.authorize());
      ids.push(...(await Promise.all(next)));
    }
    return ids;
  };
  const captures = () => http.world.gateway.calls.filter((call) => call === "capture").length;

  test(`${MANY} payments are captured by one request, each once, with a result each in the order of the request`, async () => {
    const ids = await authorizedMany(MANY);
    const sent = ids.map((id, n) => [id, `key-${n}`] as const);

    const results = resultsOf(await http.captureMany(sent));

    expect(results.map(({ status, body }) => [status, body.payment.id])).toEqual(ids.map((id) => [201, id]));
    expect(await Promise.all(ids.map((id) => http.timesCaptured(id)))).toEqual(ids.map(() => 1));
  });

  test("a request that is repeated as a whole gets the stored results, and the gateway is not asked", async () => {
    const ids = await authorizedMany(40);
    const sent = ids.map((id, n) => [id, `key-${n}`] as const);
    const first = resultsOf(await http.captureMany(sent));
    const asked = http.world.gateway.calls.length;

    const again = resultsOf(await http.captureMany(sent));

    expect(again).toEqual(first.map((one) => ({ ...one, headers: { "Idempotency-Replayed": "true" } })));
    expect(http.world.gateway.calls).toHaveLength(asked);
  });

  test("of requests that overlap, all get the same answer to one key, and the money moves once", async () => {
    const ids = await authorizedMany(30);
    const sent = ids.map((id, n) => [id, `key-${n}`] as const);

    const [one = [], another = [], alone] = await Promise.all([
      http.captureMany(sent).then(resultsOf),
      http.captureMany([...sent].reverse()).then(resultsOf),
      http.capture(ids[0]!, "key-0"),
    ]);

    expect(one.map(({ status, body }) => ({ status, body }))).toEqual(
      another.reverse().map(({ status, body }) => ({ status, body })),
    );
    expect(one[0]).toMatchObject({ status: alone.status, body: alone.body });
    expect(captures()).toBe(30);
  });

  test("each result has the status, body and headers that the capture gets when it is sent alone", async () => {
    const cases: [token: string, body: object][] = [
      ["tok_ok", {}],
      ["tok_ok", { amount: 400 }],
      ["tok_ok", { amount: 400, currency: "eur" }],
      ["tok_ok", { amount: 1_001 }],
      ["tok_ok", { amount: 0 }],
      ["tok_ok", { currency: "USD" }],
      ["tok_ok", { tip: 1 }],
      ["tok_capture_decline", {}],
      ["tok_unreachable", {}],
      ["tok_timeout_captured", {}],
      ["tok_timeout_not_captured", {}],
      ["tok_authorization_gone", {}],
    ];
    const authorizedEach = () =>
      Promise.all(cases.map(([paymentMethod]) => http.authorize({ paymentMethod })));
    const [together, alone] = [await authorizedEach(), await authorizedEach()];
    const unknown = "018f3a9e-0000-7000-8000-000000000000";

    const results = resultsOf(
      await http.captureMany([
        ...cases.map(([, body], n) => [together[n]!, "k", body] as const),
        [unknown, "k"],
        ["none", "k"],
        [unknown, "a b"],
      ]),
    );

    const singles = await Promise.all([
      ...cases.map(([, body], n) => http.capture(alone[n]!, "k", body)),
      http.capture(unknown, "k"),
      http.capture("none", "k"),
      http.capture(unknown, "a b"),
    ]);
    expect(results.map(comparable)).toEqual(singles.map((single) => comparable(asResult(single))));
    expect(new Set(results.map(({ status }) => status))).toEqual(
      new Set([201, 202, 400, 402, 404, 409, 422, 503]),
    );
  });

  test("a capture that comes twice in one request is made once, and both get the same result", async () => {
    const [one, slow] = [
      await http.authorize(),
      await http.authorize({ paymentMethod: "tok_timeout_captured" }),
    ];

    const results = resultsOf(
      await http.captureMany([
        [one, "k"],
        [slow, "k"],
        [one.toUpperCase(), "k"],
        [slow, "k"],
      ]),
    );

    expect(results[2]).toEqual(results[0]);
    expect(results[3]).toEqual(results[1]);
    expect(results.map(({ status }) => status)).toEqual([201, 202, 201, 202]);
    expect(http.world.gateway.calls.slice(2)).toEqual(["capture", "capture"]);
  });

  test("one key with two contents captures by the first of them, and refuses the other", async () => {
    const id = await http.authorize();
    const results = resultsOf(
      await http.captureMany([
        [id, "k", { amount: 400 }],
        [id, "k", { amount: 500 }],
      ]),
    );
    expect(results.map(({ status, body }) => [status, body.code])).toEqual([
      [201, undefined],
      [422, "idempotency_key_reused"],
    ]);
    expect(await http.timesCaptured(id)).toBe(1);
  });

  test("of five hundred captures of one payment with different keys, the first one captures", async () => {
    const id = await http.authorize();
    const sent = Array.from({ length: MAX_CAPTURES }, (_, n) => [id, `key-${n}`] as const);

    const [first, ...others] = resultsOf(await http.captureMany(sent));

    expect(first!.status).toBe(201);
    expect(new Set(others.map(({ body }) => body.code))).toEqual(new Set(["payment_already_captured"]));
    expect(await http.timesCaptured(id)).toBe(1);
  });
});

function asResult({ status, headers, body }: HttpAnswer): Result {
  const [replayed, after] = [headers.get("idempotency-replayed"), headers.get("retry-after")];
  return {
    status,
    headers: {
      ...(replayed === null ? {} : { "Idempotency-Replayed": replayed }),
      ...(after === null ? {} : { "Retry-After": Number(after) }),
    },
    body,
  };
}

/** Without what differs between two payments and two requests; a pointer is into the body that was sent. */
function comparable(result: Result): unknown {
  const text = JSON.stringify(result)
    .replace(/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, "<id>")
    .replace(/"instance":"[^"]*"/g, '"instance":"<path>"')
    .replace(/"pointer":"\/captures\/\d+/g, '"pointer":"');
  return JSON.parse(text);
}
