// @ts-check
/**
 * A gateway of one's own, over the little bank of `bank.mjs`:
 *
 *   holdfast serve --gateway module:examples/gateway-module/gateway.mjs
 *
 * with HOLDFAST_GATEWAY_OPTION_BANK_URL and HOLDFAST_GATEWAY_OPTION_BANK_KEY in the environment.
 */

/** Of fetch: the connection was never made, so not a byte of the request can have arrived. */
const NEVER_CONNECTED = new Set(["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "UND_ERR_CONNECT_TIMEOUT"]);

/** The bank keeps a key for a week. */
const REMEMBERS_KEYS_FOR_MS = 7 * 86_400_000;

/** What it has accepted it decides within three days. */
const DECIDES_WITHIN_MS = 3 * 86_400_000;

/** @type {import("holdfast/gateway").OpenGateway} */
export default function openGateway({ bank_url: url, bank_key: secret }) {
  if (url === undefined || secret === undefined) throw new Error("set the options bank_url and bank_key");
  const authorization = `Bearer ${secret}`;

  /**
   * Sends what moves money, under the operation's own key.
   *
   * @param {string} path
   * @param {Pick<import("holdfast/gateway").MovementRequest, "gatewayKey" | "paymentId" | "amount" | "timeoutMs">} request
   * @param {object} more
   * @returns {Promise<import("holdfast/gateway").GatewayAnswer>}
   */
  const send = async (path, { gatewayKey, paymentId, amount, timeoutMs }, more = {}) => {
    // The bank counts in minor units, too. A bigint is no JSON.
    const body = { order: paymentId, amount: Number(amount.amount), currency: amount.currency, ...more };
    try {
      const response = await fetch(url + path, {
        method: "POST",
        headers: { authorization, "content-type": "application/json", "idempotency-key": gatewayKey },
        body: JSON.stringify(body),
        signal: AbortSignal.timeout(timeoutMs),
      });
      // Turned away in front of everything that moves money.
      if (response.status === 429) return { outcome: "not_sent", reason: "too many requests" };
      return recorded(response.status, await response.json());
    } catch (error) {
      return silence(error);
    }
  };

  return {
    has: ["moves once", "is honest about silence", "can be found again", "answers later"],
    remembersKeysForMs: REMEMBERS_KEYS_FOR_MS,
    decidesWithinMs: DECIDES_WITHIN_MS,
    authorize: (request) => send("/holds", request, { card: request.paymentMethod }),
    capture: (request) =>
      send(`/holds/${encodeURIComponent(request.authorizationReference)}/capture`, request),
    void: (request) => send(`/holds/${encodeURIComponent(request.authorizationReference)}/void`, request),
    refund: (request) => send(`/holds/${encodeURIComponent(request.authorizationReference)}/refund`, request),

    async find({ gatewayKey, kind, paymentId, amount, timeoutMs }) {
      try {
        const response = await fetch(`${url}/requests/${encodeURIComponent(gatewayKey)}`, {
          headers: { authorization },
          signal: AbortSignal.timeout(timeoutMs),
        });
        const found = await response.json();
        // The bank says itself that it does not know the key: any other 404 would say nothing.
        if (response.status === 404 && found.code === "no_such_request") return { outcome: "absent" };
        if (response.status !== 200) return unknown(`HTTP ${response.status}`);
        const { asked } = found;
        const isOurs =
          found.kind === kind && asked.order === paymentId && asked.amount === Number(amount.amount);
        if (!isOurs)
          return { outcome: "mismatch", evidence: `a ${found.kind} of ${asked.amount} for ${asked.order}` };
        return recorded(found.status, found.answer);
      } catch (error) {
        const { reason } = silence(error);
        return unknown(reason);
      }
    },
  };
}

/**
 * What the bank has recorded for a key. Only what is listed here is an answer: anything else may be a proxy's.
 *
 * @param {number} status
 * @param {any} answer
 * @returns {import("holdfast/gateway").RecordedAnswer | import("holdfast/gateway").PendingAnswer
 *   | import("holdfast/gateway").Mismatch | Unknown}
 */
function recorded(status, answer) {
  if (status === 201 && typeof answer?.id === "string") return { outcome: "succeeded", reference: answer.id };
  if (typeof answer?.code !== "string") return unknown(`HTTP ${status}`);
  // Accepted, and decided later: it is not sent again, and asked about.
  if (status === 202 && answer.code === "accepted") return { outcome: "pending" };
  if (status === 402) return { outcome: "declined", reason: answer.code };
  if (status === 410) return { outcome: "authorization_gone", reason: answer.code };
  if (status === 409 && answer.code === "captured") {
    return {
      outcome: "mismatch",
      evidence: "the hold is captured",
      reference: answer.capture,
      captured: true,
    };
  }
  return unknown(answer.code);
}

/**
 * No answer. Whether the bank has acted nobody knows, unless there never was a connection.
 *
 * @param {any} error
 * @returns {Unknown | { outcome: "not_sent", reason: string }}
 */
function silence(error) {
  const code = error?.cause?.code ?? error?.name ?? "no answer";
  return NEVER_CONNECTED.has(code) ? { outcome: "not_sent", reason: code } : unknown(code);
}

/**
 * @typedef {{ outcome: "unknown", reason: string }} Unknown
 * @param {string} reason
 * @returns {Unknown}
 */
function unknown(reason) {
  return { outcome: "unknown", reason };
}
