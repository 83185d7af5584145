import { connect } from "node:net";
import { once } from "node:events";
import { CatchUp } from "../../../../src/application/gateway-events/catch-up";
import { ReceiveGatewayEvent } from "../../../../src/application/gateway-events/receive-gateway-event";
import { StripeWebhook } from "../../../../src/infrastructure/gateways/stripe/events/stripe-webhook";
import type { ProblemCode } from "../../../../src/interfaces/http/problems/problem-table";
import { StoreUnavailableError } from "../../../../src/application/ports/payment-repository";
import { GatewayUnavailableError } from "../../../../src/application/ports/gateway-events/gateway-event-source";
import { expectProblem } from "../../../support/http-expectations";
import { signatureOf, signed, WEBHOOK_SECRET } from "../../../support/stripe-stand-in/signed-event";
import { HintsWorld } from "../../../support/worlds/hints/hints-world";
import { HttpWorld } from "../../../support/worlds/http-world";

const PATH = "/gateway-events/stripe";
const LIMIT_BYTES = 256 * 1024;
const event = {
  id: "evt_1",
  object: "event",
  type: "payment_intent.succeeded",
  created: 1,
  data: { object: { object: "payment_intent", id: "pi_1", metadata: {} } },
};

describe("Stripe's events over HTTP", () => {
  let http: HttpWorld;
  let hints: HintsWorld;

  beforeEach(async () => {
    hints = new HintsWorld();
    const { receiveGatewayEvent, catchUp } = hints;
    http = await new HttpWorld({ app: { gatewayEvents: { receiveGatewayEvent, catchUp } } }).open();
    // Whoever has no key of ours: only Stripe's signature counts.
    http.keys.add("boss", "acme", true);
    http.keys.add("key-of-acme", "acme");
  });
  afterEach(() => http.close());

  const at = () => hints.payments.clock.now();
  const post = (body: string, signature?: string) =>
    http.call("POST", PATH, {
      body,
      headers: signature === undefined ? {} : { "stripe-signature": signature },
    });
  const send = (sent: object, signing = {}) => {
    const { body, signature } = signed(sent, { at: at(), ...signing });
    return post(body, signature);
  };
  const kept = async () => (await hints.hints.backlog()).waiting;

  it("are received without an API key, by Stripe's signature, and worked on at once", async () => {
    const { status, body } = await send(event);
    expect([status, body]).toEqual([200, { received: "accepted" }]);
    expect(await kept()).toBe(1);
    expect(hints.nudges).toBe(1);
  });

  it("that come twice are received twice and kept once", async () => {
    await send(event);
    expect((await send(event)).body).toEqual({ received: "duplicate" });
    expect(hints.nudges).toBe(1);
    expect(await kept()).toBe(1);
  });

  it("that are about no payment are received, and nothing is kept", async () => {
    const foreign = await send({ ...event, type: "customer.created" });
    expect([foreign.status, foreign.body]).toEqual([200, { received: "ignored" }]);
    expect(await kept()).toBe(0);
  });

  const refused = async (answer: ReturnType<typeof post>, status: number, code: ProblemCode) => {
    expectProblem(await answer, status, code);
    expect(await kept()).toBe(0);
  };

  it("without a signature, with another's, or with an old one are refused, each with its code", async () => {
    const body = JSON.stringify(event);
    await refused(post(body), 400, "gateway_signature_missing");
    await refused(post(body, "nonsense"), 400, "gateway_signature_invalid");
    await refused(
      send(event, { secret: "whsec_somebody_elses_secret_00" }),
      400,
      "gateway_signature_invalid",
    );
    await refused(send(event, { at: new Date(at().getTime() - 301_000) }), 400, "gateway_signature_expired");
  });

  it("that are signed and no JSON, or no event, are refused", async () => {
    for (const body of ["<html>", JSON.stringify(event).slice(0, 50)])
      await refused(post(body, signatureOf(body, { at: at() })), 400, "malformed_json");
    await refused(send({}), 400, "gateway_event_invalid");
  });

  it("are taken up to 256 KiB, and refused beyond that, signed or not", async () => {
    const large = (bytes: number) => {
      const empty = JSON.stringify({ ...event, padding: "" });
      return JSON.stringify({ ...event, padding: "x".repeat(bytes - empty.length) });
    };
    const tooLarge = large(LIMIT_BYTES + 1);
    await refused(post(tooLarge, signatureOf(tooLarge, { at: at() })), 413, "body_too_large");
    const allowed = large(LIMIT_BYTES);
    expect((await post(allowed, signatureOf(allowed, { at: at() }))).body).toEqual({ received: "accepted" });
  });

  it("without a signature are refused before their body has come", async () => {
    const socket = connect(http.port, "127.0.0.1");
    socket.write(`POST ${PATH} HTTP/1.1\r\nHost: a\r\nContent-Length: 200000\r\n\r\n{`);
    const [answer] = (await once(socket, "data")) as [Buffer];
    expect(answer.toString()).toMatch(/^HTTP\/1.1 400 [^]*gateway_signature_missing/);
    socket.destroy();
  });

  it("whose body ends before it is complete are kept in no part", async () => {
    const { body, signature } = signed(event, { at: at() });
    const socket = connect(http.port, "127.0.0.1");
    socket.write(
      `POST ${PATH} HTTP/1.1\r\nHost: a\r\nStripe-Signature: ${signature}\r\nContent-Length: ${body.length}\r\n\r\n`,
    );
    socket.end(body.slice(0, -5));
    socket.resume();
    await once(socket, "close");
    expect(await kept()).toBe(0);
    expect((await post(body, signature)).body).toEqual({ received: "accepted" });
  });

  it("that cannot be stored are not acknowledged, so that Stripe sends them again", async () => {
    hints.hints.receive = () => Promise.reject(new StoreUnavailableError("down"));
    expectProblem(await send(event), 503, "service_unavailable");
    expect(hints.nudges).toBe(0);
  });

  it("leave nothing of their content and of the secret in the log", async () => {
    const secretive = { ...event, data: { object: { ...event.data.object, card: "tok_very_private" } } };
    await send(secretive);
    await send(secretive, { secret: "whsec_somebody_elses_secret_00" });
    expect(http.logLines.join("\n")).not.toMatch(/very_private|whsec_/);
  });

  it("are posted: other methods are refused", async () => {
    expectProblem(await http.get(PATH), 405, "method_not_allowed");
  });

  describe("of an account that has secrets of its own", () => {
    const SECRET = `whsec_${"9".repeat(32)}`;
    const postTo = async (account: string, signing: Parameters<typeof signed>[1] = {}) => {
      const { body, signature } = signed(event, { at: at(), secret: SECRET, ...signing });
      return http.call("POST", `${PATH}/${account}`, { body, headers: { "stripe-signature": signature } });
    };
    beforeEach(async () => {
      const receiveAccountEvent = new ReceiveGatewayEvent(
        new StripeWebhook([], async (account) => (account === "acct_own" ? [SECRET] : [])),
        hints.hints,
        hints.payments.clock,
        { received: () => {} },
        () => {},
      );
      await http.close();
      http = await new HttpWorld({ app: { gatewayEvents: { receiveAccountEvent } } }).open();
    });

    it("are received at the account's own path, and kept as the account's", async () => {
      expect((await postTo("acct_own")).body).toEqual({ received: "accepted" });
      const [claimed] = await hints.hints.claim({ owner: "test", leaseMs: 1, now: at(), limit: 9 });
      expect(claimed).toMatchObject({ account: "acct_own", reference: "pi_1" });
    });

    it("are refused alike for an account without secrets, for one that nobody has, and with another's secret", async () => {
      await refused(postTo("acct_nobody"), 400, "gateway_signature_invalid");
      await refused(postTo("acct_own", { secret: WEBHOOK_SECRET }), 400, "gateway_signature_invalid");
      await refused(postTo("..%2Facct_own"), 404, "route_not_found");
      await refused(
        postTo("acct_own", { at: new Date(at().getTime() - 301_000) }),
        400,
        "gateway_signature_expired",
      );
    });
  });

  describe("as the gateway lists them", () => {
    const catchUp = (body: object, key = "boss") =>
      http.call("POST", "/gateway/catch-up", { body, headers: { authorization: `Bearer ${key}` } });

    it("are read by an operator page by page, and kept", async () => {
      for (let n = 0; n < 120; n += 1) {
        hints.standIn.world.events.record("payment_intent.succeeded", {
          object: "payment_intent",
          id: `pi_${n}`,
        });
      }
      const since = "2026-02-28T00:00:00Z";
      const first = await catchUp({ since });
      expect(first.body).toEqual({ account: null, events: 100, accepted: 100, nextCursor: "evt_21" });
      const second = await catchUp({ since, cursor: first.body.nextCursor });
      expect(second.body).toEqual({ account: null, events: 20, accepted: 20, nextCursor: null });
      expect((await catchUp({ since })).body).toMatchObject({ accepted: 0 });
      expect(await kept()).toBe(120);
      expect(hints.nudges).toBe(2);
    });

    it("are for operators, and since a time", async () => {
      expectProblem(
        await catchUp({ since: "2026-02-28T00:00:00Z" }, "key-of-acme"),
        403,
        "operator_key_required",
      );
      for (const body of [{}, { since: "yesterday" }, { since: "2026-02-28T00:00:00Z", cursor: "../x" }])
        expectProblem(await catchUp(body), 400, "invalid_request");
    });

    it("cannot be read while the gateway does not answer", async () => {
      jest.spyOn(CatchUp.prototype, "page").mockRejectedValueOnce(new GatewayUnavailableError("down"));
      expectProblem(await catchUp({ since: "2026-02-28T00:00:00Z" }), 503, "gateway_unavailable", "5");
    });
  });
});

describe("a server whose gateway says nothing by itself, or that has no signing secret", () => {
  it("has no route for events", async () => {
    const { catchUp } = new HintsWorld();
    for (const gatewayEvents of [undefined, {}, { catchUp }]) {
      const http = await new HttpWorld({ app: { gatewayEvents } }).open();
      try {
        const { body, signature } = signed(event);
        const headers = { "stripe-signature": signature };
        expectProblem(await http.call("POST", PATH, { body, headers }), 404, "route_not_found");
      } finally {
        await http.close();
      }
    }
  });
});
