import { SeededRandom } from "../../../simulation/lease/seeded-random";
import { size } from "../../test-size";
import { judge } from "../payment/judge";
import { batched } from "./batched";
import { kindsOfHistory } from "./honest-payment";
import { randomHistory } from "./random-history";

const HISTORIES = size(1_000, 120);
const PAYMENTS = size(1_000, 60);
const CALLS = PAYMENTS * 100;

test(`${HISTORIES} histories of a server that makes no mistake are judged good`, () => {
  for (let seed = 0; seed < HISTORIES; seed += 1) {
    const kind = kindsOfHistory[(seed >> 1) % kindsOfHistory.length];
    const history = randomHistory(new SeededRandom(seed), 40, seed, 0, kind);
    const { bad } = judge(seed % 2 === 0 ? history : batched(history));
    if (bad.length > 0) throw new Error(`seed ${seed}: ${bad.join("\n")}`);
  }
});

test(`${CALLS} calls of ${PAYMENTS} payments are judged in seconds`, () => {
  const random = new SeededRandom(1);
  const history = Array.from({ length: PAYMENTS }, (_, n) => randomHistory(random, 98, n, n)).flat();
  expect(judge(history)).toMatchObject({ payments: PAYMENTS, calls: CALLS, bad: [] });
});
