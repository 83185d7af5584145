// A gateway whose every word is what a payment was paid with: for texts that somebody else has made up.
const HOUR_MS = 3_600_000;

export default function openGateway() {
  const mismatch = async ({ authorizationReference }) => ({
    outcome: "mismatch",
    evidence: authorizationReference,
    reference: authorizationReference,
  });
  return {
    has: ["moves once", "is honest about silence", "can be found again"],
    remembersKeysForMs: HOUR_MS,
    async authorize({ paymentMethod }) {
      const [, reason] = /^declined:(.*)$/su.exec(paymentMethod) ?? [];
      return reason === undefined
        ? { outcome: "succeeded", reference: paymentMethod }
        : { outcome: "declined", reason };
    },
    capture: mismatch,
    void: mismatch,
    refund: mismatch,
    find: mismatch,
  };
}
