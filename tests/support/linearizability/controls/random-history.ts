import type { SeededRandom } from "../../../simulation/lease/seeded-random";
import type { HttpAnswer, HttpCall, HttpRequest } from "../history/http-call";
import { HonestPayment, type KindOfHistory } from "./honest-payment";

interface UnderWay {
  readonly at: number;
  stage: "sent off" | "waits for the gateway";
}

const CLIENTS = 6;

/** A good history of one payment: as many calls at a time as there are clients, some of which give up. */
export function randomHistory(
  random: SeededRandom,
  calls: number,
  n = 0,
  from = 0,
  kind: KindOfHistory = "ordinary",
): HttpCall[] {
  const id = `00000000-0000-4000-8000-${String(n).padStart(12, "0")}`;
  const payment = new HonestPayment(id, random, kind);
  const history: HttpCall[] = [];
  const clients: (UnderWay | null)[] = Array.from({ length: CLIENTS }, () => null);
  let isThere = false;
  let now = from;
  const finish = (client: number, at: number, answer: HttpAnswer | null) => {
    history[at] = { ...history[at]!, answer, end: answer === null ? null : now };
    isThere ||= answer?.status === 201;
    clients[client] = null;
  };
  const next = (): HttpRequest => {
    if (!isThere) return authorization(n, kind);
    const { review } = payment;
    if (review === null || random.chance(0.6)) return randomRequest(random, id);
    return wasListed(history, review.operationId) ? decision(random, review) : get("/reviews");
  };
  while (history.length < calls || clients.some((one) => one !== null)) {
    now += random.between(0.01, 1);
    if (random.chance(0.2)) payment.settle();
    const client = Math.floor(random.between(0, CLIENTS));
    const own = clients[client] ?? null;
    if (own === null) {
      if (history.length >= calls) continue;
      const request = next();
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
  const last = (request: HttpRequest) => {
    const answer = payment.arrive(request) as HttpAnswer;
    history.push({
      client: "the last",
      begin: (now += 1),
      beginWallMs: now,
      end: (now += 1),
      request,
      answer,
    });
  };
  while (payment.isOpen) {
    payment.settle();
    if (payment.review === null) continue;
    last(get("/reviews"));
    last(decision(random, payment.review));
  }
  last(get(`/payments/${id}`));
  last(get(`/gateway/payments/${id}`));
  return history;
}

function get(path: string): HttpRequest {
  return { method: "GET", path, key: null, body: null };
}

/** Whoever decides has read the list before. */
function wasListed(history: readonly HttpCall[], operationId: string): boolean {
  return history.some(({ request, answer }) => {
    const { data } = (answer?.body ?? {}) as { data?: readonly { operationId: string }[] };
    return request.path === "/reviews" && data?.some((one) => one.operationId === operationId) === true;
  });
}

/** As the gateway's books say, or, with a reason, the other way round. */
function decision(
  random: SeededRandom,
  { operationId, hasMoved }: NonNullable<HonestPayment["review"]>,
): HttpRequest {
  const isOverriding = random.chance(0.3);
  const verdict = {
    outcome: hasMoved === isOverriding ? "not_moved" : "moved",
    evidence: "the books",
    ...(isOverriding && { overrideReason: "the books are wrong" }),
  };
  return { method: "POST", path: `/reviews/${operationId}`, key: null, body: verdict };
}

function authorization(n: number, kind: KindOfHistory): HttpRequest {
  const paymentMethod = kind === "disputed" ? "tok_dispute_500" : "tok_ok";
  const body =
    kind === "imported"
      ? { gatewayReference: `ext_100_eur_order-${n}` }
      : { amount: 100, currency: "EUR", paymentMethod };
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
