/**
 * A bank that fits on a page, for the example and its tests. It carries a key out once, remembers what it answered, and can
 * be told to lose or delay what it is sent: `card_capture_silent_after_acting` is a card whose next capture is carried out
 * and never answered.
 *
 *   BANK_KEY=secret PORT=9000 node bank.mjs
 */
import { randomUUID } from "node:crypto";
import { createServer } from "node:http";
import { pathToFileURL } from "node:url";

const CARD = /^card_(?:ok|(authorize|capture|void|refund)_(\w+))$/;

export class Bank {
  /** @param {string} secret */
  constructor(secret) {
    this.secret = secret;
    /** What was reserved, by id. */
    this.holds = new Map();
    /** What was asked and answered, by idempotency key. */
    this.requests = new Map();
    /** Every movement of money, in order. */
    this.moves = [];
    /** What is on its way. */
    this.late = [];
    /** A card's misfortune comes once: keys that it has come to. */
    this.unlucky = new Set();
    this.server = createServer((request, response) => void this.handle(request, response));
  }

  /** Resolves with its address. */
  async listen(port = 0) {
    await new Promise((resolve) => this.server.listen(port, "127.0.0.1", () => resolve(undefined)));
    const address = this.server.address();
    return `http://127.0.0.1:${typeof address === "object" && address !== null ? address.port : port}`;
  }

  async close() {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }

  /** What was sent and not carried out yet arrives now. */
  landLate() {
    for (const land of this.late.splice(0)) land();
  }

  async handle(request, response) {
    const answer = (status, body) => {
      response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
    };
    if (request.headers.authorization !== `Bearer ${this.secret}`)
      return answer(401, { code: "no_such_key" });
    const [, collection, id, action] = request.url.split("/").map(decodeURIComponent);
    if (request.method === "GET" && collection === "requests") {
      const known = this.requests.get(id);
      return known ? answer(200, known) : answer(404, { code: "no_such_request" });
    }
    if (request.method === "GET" && collection === "books") {
      return answer(
        200,
        this.moves.filter(({ order }) => order === id),
      );
    }
    if (request.method !== "POST" || collection !== "holds") return answer(404, { code: "not_found" });
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    const asked = JSON.parse(Buffer.concat(chunks).toString());
    const order = {
      key: request.headers["idempotency-key"],
      kind: action ?? "authorize",
      hold: id ?? null,
      asked,
    };
    return this.receive(order, answer);
  }

  /** One request that moves money. */
  receive(order, answer) {
    const misfortune = this.misfortuneOf(order);
    const act = () => this.carryOut(order);
    const reply = ({ status, body }) => answer(status, body);
    switch (misfortune) {
      case "silent_before_acting":
        return;
      case "silent_after_acting":
        return void act();
      case "lands_late":
        return void this.late.push(act);
      case "server_error":
        return answer(500, { code: "internal" });
      case "unreachable":
        return answer(429, { code: "slow_down" });
      case "undecided":
        return reply(this.takeNow(order, act));
      case "undecided_then_refused":
        return reply(this.takeNow(order, () => this.record(order, 402, { code: "do_not_honour" })));
      case "refused":
        return reply(this.record(order, 402, { code: "do_not_honour" }));
      default:
        return reply(act());
    }
  }

  /** Taken now, and decided when what is late arrives. */
  takeNow(order, decide) {
    this.late.push(() => {
      this.requests.delete(order.key);
      decide();
    });
    return this.record(order, 202, { code: "accepted" });
  }

  misfortuneOf({ key, kind, hold, asked }) {
    const [, unlucky, misfortune] = CARD.exec(asked.card ?? this.holds.get(hold)?.card ?? "") ?? [];
    if (unlucky !== kind || this.unlucky.has(key)) return undefined;
    this.unlucky.add(key);
    return misfortune;
  }

  /** Once for each key. The same key with something else is refused, and changes nothing. */
  carryOut(order) {
    const { key, kind, hold, asked } = order;
    const known = this.requests.get(key);
    if (known !== undefined) {
      const isSame =
        known.kind === kind && known.hold === hold && JSON.stringify(known.asked) === JSON.stringify(asked);
      return isSame
        ? { status: known.status, body: known.answer }
        : { status: 422, body: { code: "key_used_for_another_request" } };
    }
    const [status, body] = this.move(order);
    return this.record(order, status, body);
  }

  record({ key, kind, hold, asked }, status, answer) {
    this.requests.set(key, { kind, hold, asked, status, answer });
    if (status === 201) this.moves.push({ order: asked.order, kind, amount: asked.amount });
    return { status, body: answer };
  }

  /** Holds are captured or let go once, and refunded up to what was captured. */
  move({ kind, hold: reference, asked: { amount, card } }) {
    const id = `${kind}-${randomUUID()}`;
    if (kind === "authorize") {
      if (!CARD.test(card)) return [402, { code: "no_such_card" }];
      this.holds.set(id, { card, amount, reserved: amount, captured: 0, refunded: 0, capture: null });
      return [201, { id }];
    }
    const hold = this.holds.get(reference);
    if (hold === undefined) return [404, { code: "no_such_hold" }];
    if (kind === "refund") {
      if (amount > hold.captured - hold.refunded) return [402, { code: "more_than_is_left" }];
      hold.refunded += amount;
      return [201, { id }];
    }
    if (hold.captured > 0) return [409, { code: "captured", capture: hold.capture }];
    if (hold.reserved === 0) return [410, { code: "let_go" }];
    if (amount > hold.amount) return [402, { code: "more_than_is_held" }];
    hold.reserved = 0;
    if (kind === "capture") Object.assign(hold, { captured: amount, capture: id });
    return [201, { id }];
  }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const bank = new Bank(process.env["BANK_KEY"] ?? "secret");
  console.log(`bank on ${await bank.listen(Number(process.env["PORT"] ?? 0))}`);
}
