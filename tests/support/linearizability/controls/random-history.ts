import type { SeededRandom } from "../../../simulation/lease/seeded-random";
import type { HttpAnswer, HttpCall, HttpRequest } from "../history/http-call";
import { HonestPayment } from "./honest-payment";

interface UnderWay {
  readonly at: number;
  stage: "sent off" | "waits for the gateway";
}

const CLIENTS = 6;

/** A good history of one payment: as many calls at a time as there are clients, some of which give up. */
export function randomHistory(random: SeededRandom, calls: number, n = 0, from = 0): HttpCall[] {
  const id = `00000000-0000-4000-8000-${String(n).padStart(12, "0")}`;
  const payment = new HonestPayment(id, random);
  const history: HttpCall[] = [];
  const clients: (UnderWay | null)[] = Array.from({ length: CLIENTS }, () => null);
  let isThere = false;
  let now = from;
  const finish = (client: number, at: number, answer: HttpAnswer | null) => {
    history[at] = { ...history[at]!, answer, end: answer === null ? null : now };
    isThere ||= answer?.status === 201;
    clients[client] = null;
  };
  while (history.length < calls || clients.some((one) => one !== null)) {
    now += random.between(0.01, 1);
    if (random.chance(0.2)) payment.settle();
    const client = Math.floor(random.between(0, CLIENTS));
    const own = clients[client] ?? null;
    if (own === null) {
      if (history.length >= calls) continue;
      const request = isThere ? randomRequest(random, id) : authorization(n);
      const begun = { client: `client ${client}`, begin: now, beginWallMs: now, request };
      clients[client] = { at: history.push({ ...begun, end: null, answer: null }) - 1, stage: "sent off" };
    } else if (own.stage === "sent off") {
      const answer = payment.arrive(history[own.at]!.request);
      if (answer === "sent") own.stage = "waits for the gateway";
      else finish(client, own.at, random.chance(0.05) ? null : answer);
      // A server that died leaves what it had begun.
      if (answer === "sent" && random.chance(0.1)) finish(client, own.at, null);
    } else {
      finish(client, own.at, payment.hear(history[own.at]!.request));
    }
  }
  while (payment.isOpen) payment.settle();
  for (const path of [`/payments/${id}`, `/gateway/payments/${id}`]) {
    const request = { method: "GET", path, key: null, body: null };
    const answer = payment.arrive(request) as HttpAnswer;
    history.push({
      client: "the last",
      begin: (now += 1),
      beginWallMs: now,
      end: (now += 1),
      request,
      answer,
    });
  }
  return history;
}

function authorization(n: number): HttpRequest {
  const body = { amount: 100, currency: "EUR", paymentMethod: "tok_ok" };
  return { method: "POST", path: "/payments", key: `order ${n}`, body };
}

function randomRequest(random: SeededRandom, id: string): HttpRequest {
  const post = (verb: string, key: string, body: object): HttpRequest => ({
    method: "POST",
    path: `/payments/${id}/${verb}`,
    key,
    body,
  });
  const key = `key ${Math.floor(random.between(0, 4))}`;
  if (random.chance(0.35)) return { method: "GET", path: `/payments/${id}`, key: null, body: null };
  if (random.chance(0.1)) return { method: "GET", path: `/gateway/payments/${id}`, key: null, body: null };
  if (random.chance(0.08)) return post("void", key, {});
  if (random.chance(0.5)) return post("capture", key, random.chance(0.2) ? { amount: 60 } : {});
  return post("refunds", key, random.chance(0.3) ? {} : { amount: random.pick([10, 20, 50]) });
}
