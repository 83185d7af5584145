import { outcomeUnknown, StoreUnavailableError } from "../../../../src/application/ports/payment-repository";
import type { ResolvedLockTimeout } from "../../../../src/application/ports/lock-timeout";
import { NoOpLockProvider } from "../../../../src/infrastructure/locking/none/no-op-lock-provider";
import {
  CAPTURES_LIMIT_BYTES,
  MAX_CAPTURES,
} from "../../../../src/interfaces/http/endpoints/captures/capture-item";
import { Gate, until } from "../../../support/fakes/gate";
import { expectProblem } from "../../../support/http-expectations";
import { HttpWorld, type HttpAnswer, type HttpWorldParts } from "../../../support/worlds/http-world";

/** More payments than are worked on at a time. */
const MANY = 50;
const LANES = 32;
const unknownId = "018f3a9e-0000-7000-8000-000000000000";

let http: HttpWorld;
async function open(parts: HttpWorldParts = {}): Promise<void> {
  await http?.close();
  http = await new HttpWorld(parts).open();
}
beforeEach(() => open());
afterEach(() => http.close());

const authorizedMany = (count: number) => Promise.all(Array.from({ length: count }, () => http.authorize()));
const withKeys = (ids: readonly string[]) => ids.map((id, n) => [id, `key-${n}`] as const);
const statuses = ({ body }: HttpAnswer) =>
  (body.results as { status: number; body: { code?: string } }[]).map(({ status, body: { code } }) =>
    code === undefined ? status : `${status} ${code}`,
  );
const captures = () => http.world.gateway.calls.filter((call) => call === "capture").length;

/** The next captures stay at the gateway until the gate opens. */
function keepAtGateway(count: number, gate: Gate): void {
  for (let n = 0; n < count; n += 1)
    http.world.gateway.next("capture", async (real) => {
      await gate.passed;
      return real();
    });
}

describe("the request as a whole", () => {
  const send = (body: unknown) => http.call("POST", "/captures", { body });

  test("a request without captures, with too many, or with anything else beside them is refused as a whole", async () => {
    const one = { paymentId: await http.authorize(), idempotencyKey: "k" };
    for (const [body, pointer] of [
      [{}, "/captures"],
      [{ captures: [] }, "/captures"],
      [{ captures: one }, "/captures"],
      [{ captures: Array.from({ length: MAX_CAPTURES + 1 }, () => one) }, "/captures"],
      [{ captures: [one], dryRun: true }, "/dryRun"],
      [[one], ""],
    ] as const) {
      const { errors } = expectProblem(await send(body), 400, "invalid_request");
      expect(errors).toEqual([{ pointer, detail: expect.any(String) }]);
    }
    expectProblem(await send('{"captures":['), 400, "malformed_json");
    expectProblem(await http.call("GET", "/captures"), 405, "method_not_allowed");
    expect(captures()).toBe(0);
  });

  test("the body limit fits five hundred captures with the longest keys, and no more than it has to", async () => {
    const key = (n: number) => `${n}`.padStart(255, "\\");
    const longest = Array.from({ length: MAX_CAPTURES }, (_, n) => ({
      paymentId: unknownId,
      idempotencyKey: key(n),
      amount: 999_999_999_999,
      currency: "EUR",
    }));
    const indented = JSON.stringify({ captures: longest }, null, 4);
    expect(new Set(statuses(await send(indented)))).toEqual(new Set(["404 payment_not_found"]));
    expectProblem(await send(`${indented}${" ".repeat(CAPTURES_LIMIT_BYTES)}`), 413, "body_too_large");
    const single = await http.capture(unknownId, "k", `{${" ".repeat(65_536)}}`);
    expectProblem(single, 413, "body_too_large");
  });

  test("a merchant captures payments of their own, and is told of all others that they do not exist", async () => {
    http.keys.add("acme-secret", "acme");
    http.keys.add("other-secret", "other");
    const [acme, other] = ["acme-secret", "other-secret"].map((secret) => ({
      authorization: `Bearer ${secret}`,
    }));
    const [mine, theirs] = [await http.authorize({}, acme), await http.authorize({}, other)];

    expectProblem(await http.captureMany(withKeys([mine])), 401, "unauthorized");
    const answer = await http.captureMany(withKeys([mine, theirs]), acme);

    expect(statuses(answer)).toEqual([201, "404 payment_not_found"]);
    expect(await http.timesCaptured(theirs)).toBe(0);
  });
});

describe("one of many captures", () => {
  test("what is wrong with one capture is its result, with a pointer into the body, and the others are made", async () => {
    const [first, last] = [await http.authorize(), await http.authorize()];
    const body = {
      captures: [
        { paymentId: first, idempotencyKey: "k" },
        5,
        { idempotencyKey: "k" },
        { paymentId: unknownId },
        { paymentId: unknownId, idempotencyKey: 7 },
        { paymentId: unknownId, idempotencyKey: "k", amount: -1, tip: 1 },
        { paymentId: last, idempotencyKey: "k" },
      ],
    };
    const answer = await http.call("POST", "/captures", { body });
    expect(statuses(answer)).toEqual([
      201,
      "400 invalid_request",
      "400 invalid_payment_id",
      "400 idempotency_key_required",
      "400 invalid_idempotency_key",
      "400 invalid_request",
      201,
    ]);
    const { errors } = answer.body.results[5].body as { errors: { pointer: string }[] };
    expect(errors.map(({ pointer }) => pointer).sort()).toEqual(["/captures/5/amount", "/captures/5/tip"]);
  });

  test("a payment that another caller holds keeps only its own captures waiting, however many there are", async () => {
    const inside = new Gate();
    const [held, ...free] = await authorizedMany(4);
    const holding = http.world.locks.withLock(`payment:${held!}`, () => inside.passed);
    const ofHeld = Array.from({ length: MANY }, (_, n) => [held!, `held-${n}`] as const);

    const answer = http.captureMany([...ofHeld, ...withKeys(free)]);
    await until(() => captures() === free.length);
    inside.open();

    await holding;
    const [first, ...others] = statuses(await answer);
    expect(first).toBe(201);
    expect(new Set(others.slice(0, MANY - 1))).toEqual(new Set(["409 payment_already_captured"]));
    expect(others.slice(MANY - 1)).toEqual([201, 201, 201]);
  });

  test("a lock that is not to be had within the wait that the caller prefers is told in the result", async () => {
    const inside = new Gate();
    const [held, free] = await authorizedMany(2);
    const holding = http.world.locks.withLock(`payment:${held!}`, () => inside.passed);
    const answer = await http.captureMany(withKeys([held!, free!]), { prefer: "wait=0" });
    inside.open();
    await holding;
    expect(statuses(answer)).toEqual(["503 lock_timeout", 201]);
    expect(answer.body.results[0].headers).toEqual({ "Retry-After": 1 });
  });

  test("a capture waits for its lock no longer than leaves the request time to answer", async () => {
    const given: unknown[] = [];
    await open({
      lockTimeouts: () => ({ timeout: "infinite", source: "configuration" }),
      app: {
        capturePayment: {
          execute: (_command, { lockTimeout }) => {
            given.push(lockTimeout);
            return Promise.reject(new Error("seen enough"));
          },
        },
      },
    });
    await http.captureMany([[unknownId, "k"]]);
    const [{ timeout, source }] = given as [ResolvedLockTimeout];
    expect(source).toBe("the time limit of an HTTP request");
    expect(timeout).toBeGreaterThan(15_000);
    expect(timeout).toBeLessThanOrEqual(20_500);
  });

  test("no more payments than allowed are at the gateway at a time", async () => {
    const gate = new Gate();
    const ids = await authorizedMany(MANY);
    keepAtGateway(MANY, gate);
    const answer = http.captureMany(withKeys(ids));
    await until(() => captures() === LANES);
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(captures()).toBe(LANES);
    gate.open();
    expect(new Set(statuses(await answer))).toEqual(new Set([201]));
  });
});

describe("when it cannot be finished", () => {
  test("a shutdown lets finish what has begun, and tells the rest that nothing was done", async () => {
    const gate = new Gate();
    const ids = await authorizedMany(MANY);
    keepAtGateway(MANY, gate);
    const answer = http.captureMany(withKeys(ids));
    await until(() => captures() === LANES);

    http.lifecycle.drain();
    gate.open();

    const told = await answer;
    expect(statuses(told)).toEqual([
      ...ids.slice(0, LANES).map(() => 201),
      ...ids.slice(LANES).map(() => "503 service_unavailable"),
    ]);
    expect(told.body.results[MANY - 1].body).toMatchObject({ outcome: "none", retryable: true });
    expect(captures()).toBe(LANES);
    expectProblem(await http.captureMany(withKeys(ids)), 503, "service_unavailable");
  });

  test("a shutdown begins nothing more, and asks the store for nothing more, whatever the locks do about it", async () => {
    const gate = new Gate();
    await open({ locks: new NoOpLockProvider() });
    const ids = await authorizedMany(MANY);
    const { payments } = http.world.context;
    const looked = jest.spyOn(payments, "find");
    keepAtGateway(MANY, gate);
    const answer = http.captureMany(withKeys(ids));
    await until(() => captures() === LANES);
    http.lifecycle.drain();
    gate.open();
    expect(statuses(await answer).slice(LANES)).toEqual(
      ids.slice(LANES).map(() => "503 service_unavailable"),
    );
    expect(new Set(looked.mock.calls.map(([id]) => id)).size).toBe(LANES);
    expect(captures()).toBe(LANES);
  });

  test("a caller who hangs up has begun no more than was under way, and finds it done when they ask again", async () => {
    const gate = new Gate();
    const ids = await authorizedMany(MANY);
    keepAtGateway(LANES, gate);
    const hangUp = new AbortController();
    const body = { captures: ids.map((paymentId, n) => ({ paymentId, idempotencyKey: `key-${n}` })) };
    const answer = http.call("POST", "/captures", { body, signal: hangUp.signal });
    const rejected = expect(answer).rejects.toThrow();
    await until(() => captures() === LANES);

    hangUp.abort();
    await rejected;
    await until(() => http.accessLog.some(({ path }) => path === "/captures"));
    gate.open();
    const again = await http.captureMany(withKeys(ids));

    expect(new Set(statuses(again))).toEqual(new Set([201]));
    expect((again.body.results as { headers: object }[]).map(({ headers }) => headers)).toEqual([
      ...ids.slice(0, LANES).map(() => expect.anything()),
      ...ids.slice(LANES).map(() => ({})),
    ]);
    expect(await Promise.all(ids.map((id) => http.timesCaptured(id)))).toEqual(ids.map(() => 1));
    expect(http.accessLog.find(({ path }) => path === "/captures")).toMatchObject({ status: 499 });
  });

  test("a store that fails for one capture is told in its result and in the log, and the others are made", async () => {
    const real = http.world.context.payments.save.bind(http.world.context.payments);
    const [fine, lost] = await authorizedMany(2);
    http.world.context.payments.save = async (payment, version) => {
      if (payment.facts.id === lost) throw outcomeUnknown(new StoreUnavailableError("disk on fire"));
      return real(payment, version);
    };
    const answer = await http.captureMany(withKeys([fine!, lost!]));
    expect(statuses(answer)).toEqual([201, "503 service_unavailable"]);
    expect(JSON.stringify(answer.body)).not.toContain("on fire");
    const requestId = answer.headers.get("x-request-id");
    expect(http.log.filter(({ msg }) => msg === "a dependency failed")).toMatchObject([{ requestId }]);
    expect(http.accessLog.at(-1)).toMatchObject({ requestId, status: 207, results: { 201: 1, 503: 1 } });
  });

  test("an unexpected error of one capture is in the log in full, and in its result as such", async () => {
    const [fine, odd] = await authorizedMany(2);
    http.world.gateway.next("capture", async (ask) => ask());
    const { find } = http.world.context.payments;
    http.world.context.payments.find = (id) =>
      id === odd ? Promise.reject(new Error("a bug")) : find.call(http.world.context.payments, id);
    const answer = await http.captureMany(withKeys([fine!, odd!]));
    expect(statuses(answer)).toEqual([201, "500 internal_error"]);
    expect(JSON.stringify(answer.body)).not.toContain("a bug");
    expect(http.log.filter(({ msg }) => msg === "unexpected error")).toHaveLength(1);
  });
});
