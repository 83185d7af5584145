import { connect } from "node:net";
import { once } from "node:events";
import type { PaymentId } from "../../../../src/domain/identifiers";
import type { ProblemCode } from "../../../../src/interfaces/http/problems/problem-table";
import { signatureOf, signed } from "../../../support/stripe-stand-in/signed-event";
import { size } from "../../../support/test-size";
import type { StripeEvent } from "../../../support/stripe-stand-in/stripe-events";
import { describeHintsOnEveryStore, type StoredHints } from "../../../support/worlds/hints/every-hint-store";
import type { HintsWorld } from "../../../support/worlds/hints/hints-world";
import { HttpWorld } from "../../../support/worlds/http-world";

const PATH = "/gateway-events/stripe";
const LIMIT_BYTES = 256 * 1024;
const TOLERANCE_MS = 300_000;
const CARD = "pm_card_visa";
/** Of each bad sort. */
const TIMES = size(60, 3);
/** Of CPU, for all of them: a hundred times what it takes. */
const MOST_CPU_MS = 20_000;
const POURED_BYTES = 256 * 1024 * 1024;

interface Sent {
  readonly body: string;
  readonly signature?: string;
}

interface BadSort {
  readonly name: string;
  /** The n-th of them, made of an event that happened. */
  readonly send: (event: StripeEvent, n: number, at: Date) => Sent;
  readonly answer: readonly [200, "accepted" | "duplicate" | "ignored"] | readonly [400 | 413, ProblemCode];
}

const SOMEBODY = "whsec_somebody_elses_secret_00";
const withSignature = (body: string, at: Date): Sent => ({ body, signature: signatureOf(body, { at }) });
const padded = (event: object, bytes: number): string => {
  const empty = JSON.stringify({ ...event, padding: "" });
  return JSON.stringify({ ...event, padding: "x".repeat(bytes - empty.length) });
};

/** Nothing of these is ever kept, whoever sends them. */
const refused: readonly BadSort[] = [
  {
    name: "forged, with a secret of the forger's",
    send: (event, n, at) => signed({ ...event, id: `evt_f${n}` }, { at, secret: SOMEBODY }),
    answer: [400, "gateway_signature_invalid"],
  },
  {
    name: "forged, with the signature of another event",
    send: (event, n, at) => ({
      body: JSON.stringify({ ...event, id: `evt_f${n}` }),
      signature: signed(event, { at }).signature,
    }),
    answer: [400, "gateway_signature_invalid"],
  },
  {
    name: "without a signature",
    send: (event, n) => ({ body: JSON.stringify({ ...event, id: `evt_u${n}` }) }),
    answer: [400, "gateway_signature_missing"],
  },
  {
    name: "old",
    send: (event, n, at) =>
      signed({ ...event, id: `evt_o${n}` }, { at: new Date(at.getTime() - TOLERANCE_MS - 1_000) }),
    answer: [400, "gateway_signature_expired"],
  },
  {
    name: "from the future",
    send: (event, n, at) =>
      signed({ ...event, id: `evt_o${n}` }, { at: new Date(at.getTime() + TOLERANCE_MS + 1_000) }),
    answer: [400, "gateway_signature_expired"],
  },
  {
    name: "truncated on the way",
    send: (event, n, at) => {
      const { body, signature } = signed(event, { at });
      return { body: body.slice(0, -1 - n), signature };
    },
    answer: [400, "gateway_signature_invalid"],
  },
  {
    name: "truncated, and signed so",
    send: (event, n, at) => withSignature(JSON.stringify(event).slice(0, -1 - n), at),
    answer: [400, "malformed_json"],
  },
  {
    name: "huge",
    send: (event, _, at) => withSignature(padded(event, LIMIT_BYTES + 1), at),
    answer: [413, "body_too_large"],
  },
  {
    name: "nested as deep as there is room for",
    send: (_, n, at) => withSignature("[".repeat(LIMIT_BYTES - n), at),
    answer: [400, "malformed_json"],
  },
  {
    name: "with an id that is longer than Stripe's are",
    send: (event, n, at) => signed({ ...event, id: `evt_${"x".repeat(251 + n)}` }, { at }),
    answer: [400, "gateway_event_invalid"],
  },
  {
    name: "signed, and no event",
    send: (_, n, at) => withSignature(JSON.stringify([n]), at),
    answer: [400, "gateway_event_invalid"],
  },
  {
    name: "about what is no payment",
    send: (event, n, at) => signed({ ...event, id: `evt_n${n}`, type: "customer.created" }, { at }),
    answer: [200, "ignored"],
  },
  {
    name: "about an intent with a name that is none",
    send: (event, n, at) => {
      const object = { object: "payment_intent", id: `pi_'; --${n}` };
      return signed({ ...event, id: `evt_n${n}`, data: { object } }, { at });
    },
    answer: [200, "ignored"],
  },
];

/** These are Stripe's own words, and no news. */
const noNews: readonly BadSort[] = [
  {
    name: "repeated",
    send: (event, _, at) => signed(event, { at }),
    answer: [200, "duplicate"],
  },
  {
    name: "about a foreign payment",
    send: (event, n, at) => {
      const object = { object: "payment_intent", id: "pi_of_another_shop", metadata: { order: "1" } };
      return signed({ ...event, id: `evt_a${n}`, data: { object } }, { at });
    },
    answer: [200, "accepted"],
  },
  {
    name: "about ours, full of lies",
    send: (event, n, at) => {
      const lies = { status: "canceled", amount: n, amount_received: n, amount_refunded: n };
      const object = { ...event.data.object, ...lies };
      return signed({ ...event, id: `evt_l${n}`, data: { object } }, { at });
    },
    answer: [200, "accepted"],
  },
];

describeHintsOnEveryStore("bad events of the gateway", (open) => {
  let stored: StoredHints;
  let world: HintsWorld;
  let http: HttpWorld;
  let ids: readonly PaymentId[];

  beforeEach(async () => {
    stored = await open();
    ({ world } = stored);
    const { receiveGatewayEvent, catchUp } = world;
    http = await new HttpWorld({ app: { gatewayEvents: { receiveGatewayEvent, catchUp } } }).open();
    ids = await payments();
    for (const event of world.events) await post(signed(event, { at: at() }));
    await world.work.drain();
  });
  afterEach(() => http.close());

  const at = () => world.payments.clock.now();
  const post = ({ body, signature }: Sent) =>
    http.call("POST", PATH, {
      body,
      headers: signature === undefined ? {} : { "stripe-signature": signature },
    });

  /** One that is whole, and one of which nobody knows yet what became of its capture: it never reached Stripe. */
  async function payments(): Promise<readonly PaymentId[]> {
    const captured = await world.payments.captured(CARD);
    await world.payments.refund(captured, "r", { amount: 300n });
    const unknown = await world.payments.authorize(CARD);
    world.standIn.arm("capture", "silent_before_acting");
    await world.payments.capture(unknown, "c");
    return [captured, unknown];
  }

  /** All that could have been changed. */
  async function everything() {
    const { payments: repository } = world.payments.context;
    const read = await Promise.all(
      ids.map(async (id) => ({ stored: await repository.find(id), events: await repository.events(id) })),
    );
    return { read, moves: [...world.standIn.world.moves], dropped: [...world.dropped] };
  }

  /** Sends so many of them, and works on what was kept. */
  async function sendAll(
    { send, answer }: BadSort,
    limit: number,
  ): Promise<{ readonly requests: readonly string[]; readonly rows: number }> {
    const rows = await stored.rows();
    const cpu = process.cpuUsage();
    const requests = await world.requestsOf(async () => {
      for (let n = 0; n < limit; n += 1) {
        const { status, body } = await post(send(world.events[0]!, n, at()));
        expect([status, status === 200 ? body.received : body.code]).toEqual(answer);
      }
      await world.work.drain();
    });
    const { user, system } = process.cpuUsage(cpu);
    expect((user + system) / 1_000).toBeLessThan(MOST_CPU_MS);
    return { requests, rows: (await stored.rows()) - rows };
  }

  it.each(refused)("$name: they change nothing, leave nothing, and ask nothing", async (sort) => {
    const before = await everything();
    const { requests, rows } = await sendAll(sort, TIMES);
    expect(await everything()).toEqual(before);
    expect([requests, rows]).toEqual([[], 0]);
  });

  it.each(noNews)("$name: they change nothing, and cost a few questions", async (sort) => {
    const before = await everything();
    const { requests, rows } = await sendAll(sort, TIMES);
    expect(await everything()).toEqual(before);
    expect(requests.filter((request) => request.startsWith("POST"))).toEqual([]);
    // However often it came, it is followed once: what is open, what has ended, and the picture.
    expect(requests.length).toBeLessThan(12);
    // The ids, until they are forgotten, and one hint.
    expect(rows).toBeLessThanOrEqual(sort.answer[1] === "accepted" ? TIMES + 1 : 0);
  });

  it("that come in another order end where they ended", async () => {
    const before = await everything();
    for (const event of world.events.toReversed()) {
      await post(signed({ ...event, id: `${event.id}r` }, { at: at() }));
      await world.work.drain();
    }
    expect(await everything()).toEqual(before);
  });

  it("without a signature are answered at once and take no memory, however long they are", async () => {
    const socket = connect(http.port, "127.0.0.1");
    socket.on("error", () => undefined);
    socket.write(`POST ${PATH} HTTP/1.1\r\nHost: a\r\nContent-Length: ${2 ** 40}\r\n\r\n`);
    const [answer] = (await once(socket, "data")) as [Buffer];
    expect(answer.toString()).toMatch(/^HTTP\/1.1 400 [^]*gateway_signature_missing/);
    const before = process.memoryUsage().arrayBuffers;
    const chunk = Buffer.alloc(64 * 1024, "x");
    for (let poured = 0; poured < POURED_BYTES; poured += chunk.length)
      if (!socket.write(chunk)) await once(socket, "drain");
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(POURED_BYTES / 2);
    socket.destroy();
    expect(await stored.rows()).toBe(world.events.length);
  });
});
