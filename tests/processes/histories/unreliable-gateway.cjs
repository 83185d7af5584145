// A gateway module between Holdfast and the bank of naive-bank.ts, over a bad line: it loses requests and answers, sends
// them twice, sends them late, answers nonsense, throws, and does not find what is there.

const LATE_MS = 1_200;
const AGAIN_MS = 600;

module.exports = function openGateway({ bank_url: url }) {
  const ask = async (order) => {
    const response = await fetch(url, { method: "POST", body: JSON.stringify(order) });
    return response.json();
  };
  const orderOf = (kind, { gatewayKey, paymentId, amount, authorizationReference = null }) => ({
    does: "move",
    kind,
    key: gatewayKey,
    payment: paymentId,
    amount: Number(amount.amount),
    reference: authorizationReference,
  });
  const unknown = { outcome: "unknown", reason: "the line was bad" };
  const later = (order, ms) => void setTimeout(() => void ask(order).catch(() => undefined), ms);

  const send = async (kind, request) => {
    const order = orderOf(kind, request);
    switch (Math.floor(Math.random() * 16)) {
      case 0:
        return unknown;
      case 1:
        await ask(order);
        return unknown;
      case 2:
        later(order, AGAIN_MS);
        return ask(order);
      case 3:
        later(order, LATE_MS);
        return unknown;
      case 4:
        await ask(order);
        return { outcome: "done", reference: 7 };
      case 5:
        await ask(order);
        throw new Error("the line broke");
      case 6:
      case 7:
        return { outcome: "not_sent", reason: "connection refused" };
      default:
        return ask(order);
    }
  };

  return {
    has: ["moves once", "is honest about silence", "can be found again"],
    remembersKeysForMs: 86_400_000,
    authorize: (request) => send("authorize", request),
    capture: (request) => send("capture", request),
    void: (request) => send("void", request),
    refund: (request) => send("refund", request),
    async find({ gatewayKey }) {
      switch (Math.floor(Math.random() * 6)) {
        case 0:
          return { outcome: "absent" };
        case 1:
          return unknown;
        case 2:
          return { outcome: "succeeded" };
        default:
          return ask({ does: "find", key: gatewayKey });
      }
    },
  };
};
