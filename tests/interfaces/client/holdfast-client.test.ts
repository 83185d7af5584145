import {
  HoldfastAnswerTooLargeError,
  HoldfastClient,
  HoldfastNotSettledError,
  HoldfastRefusal,
  HoldfastUnreachableError,
  MemoryKeys,
} from "../../../src/client";
import { FaultyProxy } from "../../support/receivers/faulty-proxy";
import { HttpWorld } from "../../support/worlds/http-world";

const CARD = { amount: 1_250, currency: "EUR" } as const;

let http: HttpWorld;
let proxy: FaultyProxy;
let keys: MemoryKeys;
let shop: HoldfastClient;
let orders = 0;
beforeEach(async () => {
  http = await new HttpWorld().open();
  proxy = await new FaultyProxy(http.url).open();
  keys = new MemoryKeys();
  shop = new HoldfastClient(proxy.url, { keys });
});
afterEach(async () => {
  await proxy.close();
  await http.close();
});

const authorized = async (paymentMethod = "tok_ok"): Promise<string> => {
  const { answer } = await shop.payments.authorize(`order ${(orders += 1)}`, { ...CARD, paymentMethod });
  proxy.seen.length = 0;
  return answer.payment.id;
};
const failureOf = async <E>(promise: Promise<unknown>, kind: new (...args: never[]) => E): Promise<E> => {
  const error: unknown = await promise.then(
    () => "it did not fail",
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(kind);
  return error as E;
};

const streamOf = (parts: readonly Uint8Array[]): ReadableStream =>
  new ReadableStream({
    start(stream) {
      for (const part of parts) stream.enqueue(part);
      stream.close();
    },
  });

describe("a client of Holdfast", () => {
  test("moves money through a payment's life, and shows it", async () => {
    const { answer } = await shop.payments.authorize("order 17", { ...CARD, paymentMethod: "tok_ok" });
    const { id } = answer.payment;

    const captured = await shop.payments.capture("order 17: capture", id, { amount: 1_000 });
    expect(captured).toMatchObject({ isSettled: true, isReplayed: false });
    expect(captured.answer.capture).toMatchObject({ status: "succeeded", amount: 1_000 });
    const refunded = await shop.payments.refund("order 17: goods came back", id, { amount: 400 });
    expect(refunded.answer.refund).toMatchObject({ status: "succeeded", amount: 400 });

    expect(await shop.payments.show(id)).toMatchObject({
      status: "captured",
      amountCaptured: 1_000,
      amountRefunded: 400,
    });
    const events: string[] = [];
    for await (const { type } of shop.payments.history(id)) events.push(type);
    expect(events).toContain("capture.succeeded");
  });

  test("releases what was authorized", async () => {
    const { answer } = await shop.payments.void("never mind", await authorized());
    expect(answer.payment.status).toBe("voided");
  });

  test.each(["answer lost", "request lost", "bad gateway"] as const)(
    "captures once when the first attempt ends with: %s",
    async (fault) => {
      const id = await authorized();
      proxy.next(fault);

      const { answer, isReplayed } = await shop.payments.capture("capture", id);

      expect(answer.payment.status).toBe("captured");
      expect(isReplayed).toBe(fault === "answer lost");
      expect(new Set(proxy.seen.map(({ idempotencyKey }) => idempotencyKey)).size).toBe(1);
      expect(proxy.seen).toHaveLength(2);
      expect(await http.timesCaptured(id)).toBe(1);
    },
  );

  test("waits as long as a refusal asks for", async () => {
    const id = await authorized();
    proxy.next("too many");
    const beganMs = performance.now();
    await shop.payments.capture("capture", id);
    expect(performance.now() - beganMs).toBeGreaterThanOrEqual(990);
  });

  test("stores its key before it sends, so that another process repeats the call instead of making a new one", async () => {
    const id = await authorized();
    proxy.next("answer lost", "answer lost", "answer lost");
    const hurried = new HoldfastClient(proxy.url, { keys, withinMs: 100 });
    const error = await failureOf(hurried.payments.capture("capture", id), HoldfastUnreachableError);

    const later = new HoldfastClient(proxy.url, { keys });
    const { idempotencyKey } = await later.payments.capture("capture", id);

    expect(idempotencyKey).toBe(error.idempotencyKey);
    expect(await http.timesCaptured(id)).toBe(1);
  });

  test("sends nothing when its key cannot be stored", async () => {
    const id = await authorized();
    const full = new HoldfastClient(proxy.url, {
      keys: { keep: () => Promise.reject(new Error("disk full")) },
    });
    await expect(full.payments.capture("capture", id)).rejects.toThrow("disk full");
    expect(proxy.seen).toEqual([]);
  });

  test("reports a refusal in the server's words, and does not repeat it", async () => {
    const id = await authorized("tok_capture_decline");
    const error = await failureOf(shop.payments.capture("capture", id), HoldfastRefusal);
    expect(error).toMatchObject({ code: "capture_declined", status: 402, isRetryable: false });
    expect(proxy.seen).toHaveLength(1);
  });

  test("refuses another movement under a name that is taken", async () => {
    const id = await authorized();
    await shop.payments.capture("capture", id, { amount: 100 });
    const error = await failureOf(shop.payments.capture("capture", id, { amount: 200 }), HoldfastRefusal);
    expect(error.code).toBe("idempotency_key_reused");
  });

  test("follows an unknown outcome to its end", async () => {
    const id = await authorized("tok_timeout_captured");
    http.world.gateway.next("capture", async (real: () => Promise<unknown>) => {
      await real();
      return { outcome: "unknown", reason: "no answer" };
    });
    const taken = await shop.payments.capture("capture", id);
    expect(taken.isSettled).toBe(false);
    expect(
      (await failureOf(taken.waitUntilSettled({ withinMs: 500 }), HoldfastNotSettledError)).retryAfterMs,
    ).toBe(2_000);

    http.world.clock.advance(10_000);
    const settled = await taken.waitUntilSettled({ withinMs: 20_000 });

    expect(settled).toMatchObject({ isSettled: true, idempotencyKey: taken.idempotencyKey });
    expect(settled.answer.payment.status).toBe("captured");
    expect(await http.timesCaptured(id)).toBe(1);
  });

  test("captures many payments, each once, whatever becomes of single answers", async () => {
    const ids = [await authorized(), await authorized("tok_capture_decline"), await authorized()];
    proxy.next("answer lost");
    const orders = ids.map((paymentId, n) => ({ name: `capture ${n}`, paymentId, amount: 500 }));

    const outcomes = await shop.payments.captureMany(orders);

    expect(outcomes.map(({ outcome }) => outcome)).toEqual(["captured", "refused", "captured"]);
    expect(await Promise.all(ids.map((id) => http.timesCaptured(id)))).toEqual([1, 0, 1]);
    const again = await shop.payments.captureMany(orders);
    expect(again.map(({ outcome, idempotencyKey }) => [outcome, idempotencyKey])).toEqual(
      outcomes.map(({ outcome, idempotencyKey }) => [outcome, idempotencyKey]),
    );
  });

  test("sends nothing where an amount has no value, or an order of many has a member that means nothing", async () => {
    const id = await authorized();
    const before = proxy.seen.length;
    const refused = { code: "invalid_body" };
    await expect(shop.payments.capture("capture", id, { amount: undefined })).rejects.toMatchObject(refused);
    await expect(shop.payments.refund("refund", id, { amount: undefined })).rejects.toMatchObject(refused);
    for (const wrong of [{ amount: undefined }, { amont: 5 }]) {
      const order = { name: "many", paymentId: id, ...wrong } as never;
      const many = [{ name: "first", paymentId: id, amount: 500 }, order];
      await expect(shop.payments.captureMany(many)).rejects.toMatchObject(refused);
    }
    expect(proxy.seen).toHaveLength(before);
    expect(await http.timesCaptured(id)).toBe(0);
  });

  test("lists payments page by page", async () => {
    const ids = [await authorized(), await authorized(), await authorized()];
    const listed: string[] = [];
    for await (const { id } of shop.payments.list({ limit: 1 })) listed.push(id);
    expect(listed).toEqual(ids.reverse());
    expect(proxy.seen.length).toBeGreaterThanOrEqual(3);
  });

  test("follows the feed of events from where it left off", async () => {
    const id = await authorized();
    const stop = new AbortController();
    const told: string[] = [];
    let after: string | undefined;
    for await (const page of shop.events.follow({ signal: stop.signal, waitSeconds: 1 })) {
      told.push(...page.data.map(({ type }) => type));
      after = page.nextCursor;
      break;
    }
    expect(told).toEqual(["payment.authorized"]);
    await shop.payments.capture("capture", id);
    for await (const page of shop.events.follow({ after: after!, signal: stop.signal, waitSeconds: 1 })) {
      expect(page.data.map(({ type }) => type)).toEqual(["payment.captured"]);
      break;
    }
  });

  test("calls any other operation by its name, and does not repeat one that may have acted", async () => {
    proxy.next("answer lost");
    await failureOf(shop.call("createSandbox", { body: {} }), HoldfastUnreachableError);
    expect(proxy.seen).toHaveLength(1);
  });

  test("shows its key to no other place than the one it was given", async () => {
    const asked: RequestInit["redirect"][] = [];
    const watching = new HoldfastClient(http.url, {
      keys,
      apiKey: "secret",
      fetch: (url, init) => {
        asked.push(init?.redirect);
        return fetch(url, init);
      },
    });
    await failureOf(watching.payments.show("0"), HoldfastRefusal);
    expect(asked).toEqual(["manual"]);
  });

  test("ends a wait when its signal says so", async () => {
    const id = await authorized();
    proxy.next("too many", "too many");
    const stop = new AbortController();
    setTimeout(() => stop.abort(), 50);
    await expect(shop.payments.capture("capture", id, {}, { signal: stop.signal })).rejects.toThrow(/abort/i);
  });

  test("sends nothing with a key that is none", async () => {
    const id = await authorized();
    const broken = new HoldfastClient(proxy.url, {
      keys: { keep: () => Promise.resolve(undefined as never) },
    });
    await expect(broken.payments.capture("capture", id)).rejects.toThrow('no key for "capture"');
    expect(proxy.seen).toEqual([]);
  });

  test("takes no other JSON for an answer", async () => {
    const id = await authorized();
    const portal = new HoldfastClient(proxy.url, {
      keys,
      withinMs: 50,
      fetch: () => Promise.resolve(Response.json({})),
    });
    await failureOf(portal.payments.capture("capture", id), HoldfastUnreachableError);
    const [outcome] = await portal.payments.captureMany([{ name: "many", paymentId: id }]);
    expect(outcome).toMatchObject({ outcome: "unanswered" });
  });

  test("does not read an answer without end, ends its connection, and has moved money once", async () => {
    const id = await authorized();
    proxy.next("endless answer");
    const error = await failureOf(shop.payments.capture("capture", id), HoldfastAnswerTooLargeError);
    expect(error).toMatchObject({ code: "answer_too_large", limitBytes: 16_777_216 });
    await proxy.endlessAnswerIsOver();
    expect(proxy.seen).toHaveLength(1);

    const { idempotencyKey, isReplayed } = await shop.payments.capture("capture", id);
    expect([idempotencyKey, isReplayed]).toEqual([error.idempotencyKey, true]);
    expect(await http.timesCaptured(id)).toBe(1);
  });

  test("reads an answer of exactly the length that it is told to read at most, in whatever parts it comes", async () => {
    const payment = JSON.stringify({ payment: { id: "pay \u20ac", text: "\u20ac".repeat(20) } });
    const bytes = new TextEncoder().encode(payment);
    const limited = (answerLimitBytes: number) =>
      new HoldfastClient(proxy.url, {
        keys,
        answerLimitBytes,
        fetch: () => {
          // Parts that end in the middle of a character.
          const parts = Array.from({ length: Math.ceil(bytes.length / 5) }, (_, n) =>
            bytes.slice(5 * n, 5 * n + 5),
          );
          return Promise.resolve(new Response(streamOf(parts)));
        },
      });
    expect(JSON.stringify({ payment: await limited(bytes.length).payments.show("pay \u20ac") })).toBe(
      payment,
    );
    await failureOf(limited(bytes.length - 1).payments.show("p"), HoldfastAnswerTooLargeError);
  });

  test("counts what a small compressed answer becomes", async () => {
    proxy.next("compressed zeros");
    const error = await failureOf(shop.payments.show("p"), HoldfastAnswerTooLargeError);
    expect(error.idempotencyKey).toBeNull();
  });

  test.each([NaN, -1, 0, "1000", {}])("refuses times that are none: %p", (ms) => {
    const odd = ms as number;
    expect(() => new HoldfastClient(http.url, { keys, withinMs: odd })).toThrow("withinMs has to be");
    expect(() => new HoldfastClient(http.url, { keys, answerWithinMs: odd })).toThrow(
      "answerWithinMs has to be",
    );
  });

  test.each([0, -1, 1.5, NaN, Infinity, "1" as never])(
    "refuses a limit of answers that is none: %p",
    (answerLimitBytes) => {
      expect(() => new HoldfastClient(http.url, { keys, answerLimitBytes })).toThrow(
        "answerLimitBytes has to be a whole number of bytes",
      );
    },
  );

  test("keeps what became of the first of many when the request of the others has no answer", async () => {
    const ids = await Promise.all([authorized(), authorized()]);
    const orders = [
      { name: "one", paymentId: ids[0] },
      ...Array.from({ length: 500 }, (_, n) => ({ name: `other ${n}`, paymentId: ids[1] })),
    ];
    let calls = 0;
    const halved = new HoldfastClient(proxy.url, {
      keys,
      // No answer of a Holdfast server, and none that is worth another attempt.
      fetch: (url, init) =>
        (calls += 1) > 1 ? Promise.resolve(new Response("cut", { status: 400 })) : fetch(url, init),
    });
    const outcomes = await halved.payments.captureMany(orders);
    expect(outcomes[0]).toMatchObject({ outcome: "captured" });
    expect(outcomes.at(-1)).toMatchObject({ outcome: "unanswered" });
  });

  test("waits, and does not ask in a circle, when it is told to come back after longer than a timer lasts", async () => {
    let calls = 0;
    const patient = new HoldfastClient(proxy.url, {
      keys,
      withinMs: Infinity,
      fetch: () => {
        calls += 1;
        return Promise.resolve(
          new Response("later", { status: 503, headers: { "retry-after": "99999999" } }),
        );
      },
    });
    const stop = new AbortController();
    setTimeout(() => stop.abort(), 100);
    await expect(patient.payments.show("p", { signal: stop.signal })).rejects.toThrow(/abort/i);
    expect(calls).toBe(1);
  });

  test("refuses an address with a password, and ids that would lead elsewhere", async () => {
    expect(() => new HoldfastClient("http://me:secret@127.0.0.1", { keys })).toThrow(/no user, no password/);
    for (const id of ["", ".", ".."])
      await expect(shop.payments.show(id)).rejects.toThrow("paymentId is missing");
  });

  test.each(["", "hf_secret\nx", "hf secret"])(
    "refuses a key that is none, and does not show it: %j",
    (apiKey) => {
      const odd = () => new HoldfastClient(http.url, { keys, apiKey });
      expect(odd).toThrow("apiKey is empty, or has characters that no API key has");
    },
  );
});
