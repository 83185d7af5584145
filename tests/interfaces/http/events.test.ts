import { connect, type Socket } from "node:net";
import { once } from "node:events";
import { UuidV7Generator } from "../../../src/infrastructure/identity/uuid-v7-generator";
import {
  BEFORE_THE_FIRST,
  cursorAt,
  writeEventCursor,
} from "../../../src/interfaces/http/endpoints/events/event-cursor";
import { eventStream } from "../../../src/interfaces/http/endpoints/events/event-stream";
import { nextEvents, type LendFeed } from "../../../src/interfaces/http/endpoints/events/next-events";
import { WaitingReaders } from "../../../src/interfaces/http/endpoints/events/waiting-readers";
import { InvalidCursorError } from "../../../src/application/ports/payment-repository";
import type { ProblemCode } from "../../../src/interfaces/http/problems/problem-table";
import { InMemoryPaymentRepository } from "../../../src/infrastructure/persistence/memory/in-memory-payment-repository";
import { expectProblem } from "../../support/http-expectations";
import { until } from "../../support/fakes/gate";
import { SandboxInstances } from "../../support/worlds/sandbox-instances";
import { authorizedPayment } from "../../support/worlds/payments";
import { HttpWorld, type HttpAnswer } from "../../support/worlds/http-world";

let http: HttpWorld;
let payments: InMemoryPaymentRepository;
let readers: WaitingReaders;
const leaving: AbortController[] = [];

beforeEach(async () => {
  payments = new InMemoryPaymentRepository();
  readers = new WaitingReaders({ all: 3, ofOneMerchant: 2 });
  http = await new HttpWorld({ payments, app: { readers } }).open();
});
afterEach(async () => {
  for (const one of leaving.splice(0)) one.abort();
  await http.close();
});

const cursorOf = (content: string) => Buffer.from(content).toString("base64url");
const NOT_OF_THIS_FEED =
  /^is no cursor of this feed \(perhaps of another store .* begin again without one .*, or with latest$/;
const as = (secret: string) => ({ authorization: `Bearer ${secret}` });
const typesOf = ({ body }: HttpAnswer) => (body.data as { type: string }[]).map(({ type }) => type);

interface Told {
  readonly id: string;
  readonly event?: string;
  readonly data?: string;
}

/** What a browser's EventSource would make of it. */
class Stream {
  private constructor(
    readonly answer: Response,
    private readonly reader: ReadableStreamDefaultReader<Uint8Array>,
    readonly leave: () => void,
  ) {}
  private text = "";

  static async open(path: string, headers: Record<string, string> = {}): Promise<Stream> {
    const leaves = new AbortController();
    leaving.push(leaves);
    const answer = await fetch(`${http.url}${path}`, {
      headers: { accept: "text/event-stream", ...headers },
      signal: leaves.signal,
    });
    return new Stream(answer, answer.body!.getReader(), () => leaves.abort());
  }

  /** The next block, events and heartbeats alike; null at the end. */
  async block(): Promise<Told | null> {
    for (;;) {
      const end = this.text.indexOf("\n\n");
      if (end !== -1) {
        const lines = this.text.slice(0, end).split("\n");
        this.text = this.text.slice(end + 2);
        return Object.fromEntries(lines.map((line) => line.split(/: (.*)/s, 2)));
      }
      const { done, value } = await this.reader.read();
      if (done) return null;
      this.text += Buffer.from(value).toString();
    }
  }

  async event(): Promise<{ type: string; id: string; json: Record<string, unknown> }> {
    for (;;) {
      const block = await this.block();
      if (block === null) throw new Error("the stream has ended");
      if (block.data !== undefined)
        return { type: block.event ?? "", id: block.id, json: JSON.parse(block.data) };
    }
  }
}

describe("the feed", () => {
  test("tells what happened, each event with the payment as it was, and where to go on", async () => {
    const id = await http.authorize({ metadata: { basket: "7" } });
    await http.capture(id, "k");
    const answer = await http.get("/events");
    expect(answer.status).toBe(200);
    expect(answer.body.data).toEqual([
      {
        id: expect.stringMatching(/^[0-9a-f-]{14}7/),
        type: "payment.authorized",
        timestamp: "2026-03-01T12:00:00.000Z",
        data: {
          payment: expect.objectContaining({ id, status: "authorized", metadata: { basket: "7" } }),
          operation: expect.objectContaining({ kind: "authorize", status: "succeeded" }),
          sequence: 1,
        },
      },
      expect.objectContaining({
        type: "payment.captured",
        data: {
          payment: (await http.get(`/payments/${id}`)).body.payment,
          operation: expect.objectContaining({ kind: "capture" }),
          sequence: 2,
        },
      }),
    ]);
    expect(answer.body.hasMore).toBe(false);
    const next = await http.get(`/events?after=${answer.body.nextCursor}`);
    expect(next.body).toEqual({ data: [], nextCursor: answer.body.nextCursor, hasMore: false });
    await http.authorize();
    expect(typesOf(await http.get(`/events?after=${answer.body.nextCursor}`))).toEqual([
      "payment.authorized",
    ]);
  });

  test("page by page, by type, by payment; latest is what comes", async () => {
    const [one, other] = [await http.authorize(), await http.authorize()];
    await http.capture(other, "k");
    const page = await http.get("/events?limit=2");
    expect(page.body).toMatchObject({ data: [{}, {}], hasMore: true });
    expect(typesOf(await http.get(`/events?limit=2&after=${page.body.nextCursor}`))).toEqual([
      "payment.captured",
    ]);
    expect(typesOf(await http.get(`/events?types=payment.captured,payment.voided`))).toEqual([
      "payment.captured",
    ]);
    expect(typesOf(await http.get(`/events?paymentId=${one.toUpperCase()}`))).toEqual(["payment.authorized"]);
    const latest = await http.get("/events?after=latest");
    expect(latest.body).toMatchObject({ data: [], hasMore: false });
    await http.capture(one, "k");
    expect(typesOf(await http.get(`/events?after=${latest.body.nextCursor}`))).toEqual(["payment.captured"]);
  });

  test("a merchant's key sees its own, an operator's all; without a key there is nothing", async () => {
    http.keys.add("acme-secret", "acme");
    http.keys.add("globex-secret", "globex");
    http.keys.add("operator-secret", "ops", true);
    await http.authorize({}, as("acme-secret"));
    await http.authorize({}, as("globex-secret"));
    const merchantsOf = async (secret: string) => {
      const { body } = await http.get("/events", as(secret));
      return (body.data as { data: { payment: { merchant: string } } }[]).map(
        ({ data }) => data.payment.merchant,
      );
    };
    expect(await merchantsOf("acme-secret")).toEqual(["acme"]);
    expect(await merchantsOf("globex-secret")).toEqual(["globex"]);
    expect(await merchantsOf("operator-secret")).toEqual(["acme", "globex"]);
    expectProblem(await http.get("/events"), 401, "unauthorized");
  });

  test.each([
    ["after=nonsense", "invalid_event_cursor", "after"],
    ["after=", "invalid_event_cursor", "after"],
    ["after=ZTE=", "invalid_event_cursor", "after"],
    [`after=${cursorOf("e00")}`, "invalid_event_cursor", "after"],
    [`after=${cursorOf("e0.AAAAAAAA")}`, "invalid_event_cursor", "after"],
    [`after=${cursorOf("e1")}`, "invalid_event_cursor", "after"],
    [`after=${cursorOf("e1.")}`, "invalid_event_cursor", "after"],
    [`after=${cursorOf("e1.AAAAAAAA")}`, "invalid_event_cursor", "after"],
    [`after=${cursorOf("e7.AAAAAAAA")}`, "invalid_event_cursor", "after"],
    [`after=${cursorOf("e9007199254740991.AAAAAAAA")}`, "invalid_event_cursor", "after"],
    [`after=${cursorOf("e9007199254740993.AAAAAAAA")}`, "invalid_event_cursor", "after"],
    [`after=${cursorOf("e99999999999999999.AAAAAAAA")}`, "invalid_event_cursor", "after"],
    ["types=payment.stolen", "invalid_event_type", "types"],
    ["types=", "invalid_event_type", "types"],
    ["types=payment.captured&types=payment.voided", "invalid_event_type", "types"],
    ["paymentId=7", "invalid_payment_id", "paymentId"],
    ["limit=0", "invalid_limit", "limit"],
    ["limit=1001", "invalid_limit", "limit"],
    ["limit=ten", "invalid_limit", "limit"],
    ["wait=31", "invalid_wait", "wait"],
    ["wait=-1", "invalid_wait", "wait"],
    ["since=yesterday", "invalid_request", "since"],
  ])("%s is refused as %s", async (query, code, parameter) => {
    await http.authorize();
    const answer = await http.get(`/events?${query}`);
    expectProblem(answer, 400, code as ProblemCode);
    expect(answer.body.errors[0].parameter).toBe(parameter);
    if (parameter === "after") expect(answer.body.errors[0].detail).toMatch(NOT_OF_THIS_FEED);
  });

  describe("and a cursor of another store", () => {
    let another: HttpWorld;
    let cursors: string[];
    beforeEach(async () => {
      another = await new HttpWorld().open();
      for (const world of [http, another]) await world.capture(await world.authorize(), "k");
      cursors = await Promise.all(
        ["limit=1", "limit=100", "after=latest"].map(
          async (query) => (await another.get(`/events?${query}`)).body.nextCursor as string,
        ),
      );
    });
    afterEach(() => another.close());

    test("goes on there, and is refused here with what to do about it, also by a long poll", async () => {
      for (const cursor of cursors) {
        expect((await another.get(`/events?after=${cursor}`)).status).toBe(200);
        for (const query of [`after=${cursor}`, `after=${cursor}&wait=30`, `after=${cursor}&limit=1`]) {
          const answer = await http.get(`/events?${query}`);
          expectProblem(answer, 400, "invalid_event_cursor");
          expect(answer.body.errors).toEqual([
            { parameter: "after", detail: expect.stringMatching(NOT_OF_THIS_FEED) },
          ]);
        }
      }
    });

    test("is refused by the stream before it begins, as Last-Event-ID, too, and takes no reader's place", async () => {
      for (const cursor of cursors) {
        for (const [path, headers, parameter] of [
          [`/events?after=${cursor}`, {}, "after"],
          ["/events", { "last-event-id": cursor }, "Last-Event-ID"],
        ] as const) {
          const answer = await http.get(path, { accept: "text/event-stream", ...headers });
          expectProblem(answer, 400, "invalid_event_cursor");
          expect(answer.body).toMatchObject({
            errors: [{ parameter, detail: expect.stringMatching(NOT_OF_THIS_FEED) }],
          });
        }
      }
      expect((await Stream.open("/events")).answer.status).toBe(200);
    });
  });
});

describe("a long poll", () => {
  test("is answered when something happens, with what happened", async () => {
    const cursor = (await http.get("/events?after=latest")).body.nextCursor as string;
    const waiting = http.get(`/events?after=${cursor}&wait=30`);
    await until(() => isWaiting(payments));
    const id = await http.authorize();
    expect((await waiting).body.data).toMatchObject([{ data: { payment: { id } } }]);
  });

  test("what is not for it does not end it, and is not looked at again", async () => {
    const waiting = http.get("/events?types=payment.captured&wait=30");
    await until(() => isWaiting(payments));
    const id = await http.authorize();
    await http.capture(id, "k");
    const { body } = await waiting;
    expect(body.data).toMatchObject([{ type: "payment.captured" }]);
  });

  test("ends with nothing when its time is over, and when the server drains", async () => {
    expect((await http.get("/events?wait=1")).body.data).toEqual([]);
    const waiting = http.get("/events?wait=30");
    await until(() => isWaiting(payments));
    http.lifecycle.drain();
    expect((await waiting).body).toMatchObject({ data: [], nextCursor: expect.any(String) });
  });

  test("who leaves is forgotten, and makes room", async () => {
    const leaves = new AbortController();
    const poll = { signal: leaves.signal };
    const gone = [http.call("GET", "/events?wait=30", poll), http.call("GET", "/events?wait=30", poll)];
    await until(() => isWaiting(payments, 2));
    const refused = await http.get("/events?wait=30");
    expectProblem(refused, 503, "too_many_readers", "5");
    expect((await http.get("/events")).status).toBe(200);
    leaves.abort();
    for (const one of gone) await expect(one).rejects.toThrow();
    await until(() => isWaiting(payments, 0));
    expect((await http.get("/events?wait=1")).status).toBe(200);
  });

  test("one merchant's readers leave room for another's", async () => {
    http.keys.add("acme-secret", "acme");
    http.keys.add("globex-secret", "globex");
    const leaves = new AbortController();
    const waits = (secret: string) =>
      http.call("GET", "/events?wait=30", { signal: leaves.signal, headers: as(secret) });
    const waiting = [waits("acme-secret"), waits("acme-secret")];
    await until(() => isWaiting(payments, 2));
    expectProblem(await http.get("/events?wait=1", as("acme-secret")), 503, "too_many_readers", "5");
    expect((await http.get("/events?wait=1", as("globex-secret"))).status).toBe(200);
    leaves.abort();
    await Promise.allSettled(waiting);
  });
});

/** Readers that sleep until something is published. */
function isWaiting({ feed }: InMemoryPaymentRepository, count = 1): boolean {
  const { heard } = feed as unknown as { heard: { waiting: Set<unknown> } };
  return heard.waiting.size === count;
}

describe("as server-sent events", () => {
  test("what is there comes at once, and what happens as it happens", async () => {
    const first = await http.authorize();
    const stream = await Stream.open("/events");
    expect(stream.answer.headers.get("content-type")).toBe("text/event-stream; charset=utf-8");
    expect(await stream.event()).toMatchObject({
      type: "payment.authorized",
      json: { data: { payment: { id: first } } },
    });
    await http.capture(first, "k");
    const { type, json } = await stream.event();
    expect(type).toBe("payment.captured");
    expect(json).toEqual((await http.get("/events?types=payment.captured")).body.data[0]);
  });

  test("Last-Event-ID goes on where the stream stopped, whatever the query says", async () => {
    const id = await http.authorize();
    const before = await Stream.open("/events");
    const { id: cursor } = await before.event();
    before.leave();
    await http.capture(id, "k");
    const stream = await Stream.open("/events?after=latest", { "last-event-id": cursor });
    expect((await stream.event()).type).toBe("payment.captured");
    const wrong = await fetch(`${http.url}/events`, {
      headers: { accept: "text/event-stream", "last-event-id": "nonsense" },
    });
    expect(wrong.status).toBe(400);
    expect(await wrong.json()).toMatchObject({
      code: "invalid_event_cursor",
      errors: [{ parameter: "Last-Event-ID" }],
    });
  });

  test("ends when the server drains, and none begins then", async () => {
    const stream = await Stream.open("/events");
    await stream.block();
    http.lifecycle.drain();
    const rest = await stream.block();
    expect(rest?.data).toBeUndefined();
    expect(rest === null ? null : await stream.block()).toBeNull();
    const refused = await fetch(`${http.url}/events`, { headers: { accept: "text/event-stream" } });
    expect(refused.status).toBe(503);
  });

  test("as many as may, and no more; who leaves makes room", async () => {
    const [one] = [await Stream.open("/events"), await Stream.open("/events")];
    const refused = await fetch(`${http.url}/events`, { headers: { accept: "text/event-stream" } });
    expect(await refused.json()).toMatchObject({ code: "too_many_readers" });
    one.leave();
    await until(() => isWaiting(payments, 1));
    expect((await Stream.open("/events")).answer.status).toBe(200);
  });

  test("a question for the headers alone is answered and leaves nothing behind", async () => {
    const answer = await fetch(`${http.url}/events`, {
      method: "HEAD",
      headers: { accept: "text/event-stream" },
    });
    expect(answer.status).toBe(200);
    await Stream.open("/events");
    await Stream.open("/events");
  });

  test("a reader that does not read is sent no more than fits on the way, and the next page is not read", async () => {
    for (let n = 0; n < 40; n += 1) await fill(payments, 100);
    const read = jest.spyOn(payments.feed, "read");
    const socket = connect(http.port, "127.0.0.1");
    await once(socket, "connect");
    socket.pause();
    socket.write("GET /events?limit=100 HTTP/1.1\r\nHost: a\r\nAccept: text/event-stream\r\n\r\n");
    await steady(() => read.mock.calls.length);
    const pagesWhileUnread = read.mock.calls.length;
    expect(pagesWhileUnread).toBeLessThan(40);
    const text = await readUntil(socket, (all) => all.split("\nevent: ").length - 1 === 4_000);
    expect(text.split("\nevent: ")).toHaveLength(4_001);
    socket.destroy();
  });

  test("a quiet stream has heartbeats that move its cursor on, and that of a revoked key ends", async () => {
    await fill(payments, 1);
    let isKnown = true;
    const chunks = eventStream(
      (work) => work(payments.feed),
      { limit: 10, types: ["payment.voided"] },
      { events: [], next: BEFORE_THE_FIRST, isFull: false },
      { signal: new AbortController().signal, isStillKnown: async () => isKnown, heartbeatMs: 5 },
    );
    expect(await chunks.next()).toMatchObject({ value: "retry: 2000\nid: ZTA\n\n" });
    const [event] = payments.feed.all();
    const moved = writeEventCursor(cursorAt(event!));
    expect(await chunks.next()).toMatchObject({ value: `id: ${moved}\n\n` });
    isKnown = false;
    for (let blocks = 0; blocks < 10; blocks += 1) if ((await chunks.next()).done === true) return;
    throw new Error("the stream goes on");
  });
});

async function fill(repository: InMemoryPaymentRepository, count: number): Promise<void> {
  for (let n = 0; n < count; n += 1)
    await repository.save(
      authorizedPayment({ merchant: "default", metadata: { pad: "x".repeat(500) } }),
      "new",
    );
}

/** Until it has not changed for a while. */
async function steady(count: () => number): Promise<void> {
  for (let before = -1, same = 0; same < 10; before = count()) {
    same = count() === before ? same + 1 : 0;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

async function readUntil(socket: Socket, isAll: (text: string) => boolean): Promise<string> {
  let text = "";
  socket.resume();
  for await (const chunk of socket) {
    text += String(chunk);
    if (isAll(text)) break;
  }
  return text;
}

describe("in a sandbox", () => {
  let instances: SandboxInstances;
  let inSandbox: HttpWorld;
  beforeEach(async () => {
    instances = new SandboxInstances();
    const { sandboxes } = instances.instance("a");
    inSandbox = await new HttpWorld({ app: { sandboxes } }).open();
  });
  afterEach(async () => {
    await inSandbox.close();
    await instances.close();
  });

  test("the feed is the sandbox's own, also by a long poll that its clock ends", async () => {
    const { body: made } = await inSandbox.call("POST", "/sandboxes");
    const sandbox = made.sandbox.id as string;
    const { body } = await inSandbox.call("POST", `/sandboxes/${sandbox}/payments`, {
      headers: { "idempotency-key": "a" },
      body: { amount: 1_000, currency: "EUR", paymentMethod: "tok_ok", expiresIn: 60 },
    });
    const told = await inSandbox.get(`/sandboxes/${sandbox}/events`);
    expect(told.body.data).toMatchObject([
      { type: "payment.authorized", data: { payment: { id: body.payment.id } } },
    ]);
    expect((await inSandbox.get("/events")).body.data).toEqual([]);
    const waiting = inSandbox.get(`/sandboxes/${sandbox}/events?after=${told.body.nextCursor}&wait=30`);
    await inSandbox.call("POST", `/sandboxes/${sandbox}/clock`, { body: { advanceSeconds: 60 } });
    expect((await waiting).body.data).toMatchObject([{ type: "payment.expired" }]);
    const other = (await inSandbox.call("POST", "/sandboxes")).body.sandbox.id as string;
    expect((await inSandbox.get(`/sandboxes/${other}/events`)).body.data).toEqual([]);
    const unknown = new UuidV7Generator({ now: () => new Date() }).nextId();
    expectProblem(await inSandbox.get(`/sandboxes/${unknown}/events`), 404, "sandbox_not_found");
  });

  test("a cursor of before a snapshot goes on in what was made from it, and one of afterwards is refused", async () => {
    const made = async (body: object) =>
      (await inSandbox.call("POST", "/sandboxes", { body })).body.sandbox.id as string;
    const pay = (sandbox: string, key: string) =>
      inSandbox.call("POST", `/sandboxes/${sandbox}/payments`, {
        headers: { "idempotency-key": key },
        body: { amount: 1_000, currency: "EUR", paymentMethod: "tok_ok" },
      });
    const feedOf = (sandbox: string, after?: string) =>
      inSandbox.get(`/sandboxes/${sandbox}/events${after === undefined ? "" : `?after=${after}`}`);
    const original = await made({});
    await pay(original, "a");
    const before = (await feedOf(original)).body.nextCursor as string;
    const { snapshot } = (await inSandbox.call("POST", `/sandboxes/${original}/checkpoint`)).body;
    await pay(original, "b");
    const afterwards = (await feedOf(original)).body.nextCursor as string;
    const fork = await made({ fromSnapshot: snapshot.id });
    await pay(fork, "c");
    const unrelated = await made({});
    await pay(unrelated, "d");
    await pay(unrelated, "e");
    expect((await feedOf(fork, before)).body.data).toHaveLength(1);
    const refused: readonly (readonly [string, string])[] = [
      [fork, afterwards],
      [unrelated, before],
      [unrelated, afterwards],
    ];
    for (const [sandbox, cursor] of refused) {
      expectProblem(await feedOf(sandbox, cursor), 400, "invalid_event_cursor");
      const stream = await inSandbox.get(`/sandboxes/${sandbox}/events`, {
        accept: "text/event-stream",
        "last-event-id": cursor,
      });
      expectProblem(stream, 400, "invalid_event_cursor");
    }
    expectProblem(await inSandbox.get(`/events?after=${before}`), 400, "invalid_event_cursor");
  });

  test("a long poll whose sandbox comes back without what it has seen is told so", async () => {
    const [first, second] = [new InMemoryPaymentRepository(), new InMemoryPaymentRepository()];
    await fill(first, 2);
    await fill(second, 2);
    let lent = first.feed;
    const { next } = await nextEvents(
      async (work) => work(lent),
      { limit: 10 },
      BEFORE_THE_FIRST,
      0,
      new AbortController().signal,
    );
    const waiting = nextEvents(
      async (work) => work(lent),
      { limit: 10 },
      next,
      30_000,
      new AbortController().signal,
    );
    await until(() => isWaiting(first));
    lent = second.feed;
    await fill(first, 1);
    await expect(waiting).rejects.toThrow(InvalidCursorError);
  });

  test("a stream whose sandbox comes back without what it has told ends, so that its reader asks again", async () => {
    const [first, second] = [new InMemoryPaymentRepository(), new InMemoryPaymentRepository()];
    await fill(first, 2);
    await fill(second, 3);
    let lent = first.feed;
    const lend: LendFeed = async (work) => work(lent);
    const { signal } = new AbortController();
    const told = await nextEvents(lend, { limit: 10 }, BEFORE_THE_FIRST, 0, signal);
    const chunks = eventStream(lend, { limit: 10 }, told, { signal, isStillKnown: async () => true });
    expect((await chunks.next()).value).toContain("event: payment.authorized");
    lent = second.feed;
    expect(await chunks.next()).toEqual({ done: true, value: undefined });
  });
});
