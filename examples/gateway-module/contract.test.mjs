// @ts-check
/** node contract.test.mjs: the gateway's promises, held against a bank that loses and delays what it is sent. */
import { describe, it } from "node:test";
import { describePaymentGateway } from "holdfast/gateway-contract";
import { Bank } from "./bank.mjs";
import openGateway from "./gateway.mjs";

const SITUATIONS = [
  "refused",
  "silent_after_acting",
  "silent_before_acting",
  "lands_late",
  "server_error",
  "unreachable",
  "undecided",
  "undecided_then_refused",
];

describePaymentGateway(
  { describe, it: (name, body, timeout) => it(name, { timeout }, body) },
  {
    name: "the gateway of the example",
    layers: ["moves once", "is honest about silence", "can be found again", "answers later"],
    canBring: (_kind, situation) => SITUATIONS.includes(situation),
    async open() {
      const bank = new Bank("secret");
      const gateway = await openGateway({ bank_url: await bank.listen(), bank_key: "secret" });
      return {
        gateway,
        paymentMethod: (kind, situation) =>
          situation === undefined ? "card_ok" : `card_${kind}_${situation}`,
        moves: async (paymentId) =>
          bank.moves
            .filter(({ order }) => order === paymentId)
            .map(({ kind, amount }) => ({ kind, amount: BigInt(amount) })),
        reserved: async (_paymentId, reference) => BigInt(bank.holds.get(reference)?.reserved ?? -1),
        timePasses: async () => bank.landLate(),
        stop: () => bank.close(),
      };
    },
  },
);
