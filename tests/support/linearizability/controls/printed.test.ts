import { SeededRandom } from "../../../simulation/lease/seeded-random";
import { size } from "../../test-size";
import { judge } from "../payment/judge";
import { mutations } from "./mutations";
import { randomHistory } from "./random-history";

const HISTORIES = size(30, 9);

test("a bad history is printed with the calls that contradict each other, and where the payment can have been", () => {
  const stale = mutations["a stale read: the payment as it was before a capture that was acknowledged"]!;
  const histories = Array.from({ length: HISTORIES }, (_, n) =>
    stale(randomHistory(new SeededRandom(n), 30, n)),
  );
  const printed = histories.flatMap((history) => (history === null ? [] : judge(history).bad));
  expect(printed.length).toBeGreaterThan(HISTORIES / 3);
  for (const text of printed) {
    expect(text).toMatch(/^payment 0{8}-.*: no order of its calls explains all answers\n/);
    expect(text).toMatch(/\n {2}>> [\d.]+ to [\d.]+ ms, .*: .* -> /);
    expect(text).toMatch(/At >> the payment can only have been:\n {4}\w+ \(captured \d+, refunded \d+\)/);
    expect(text).toMatch(/of the payment's \d+ calls are shown; the contradiction needs no others/);
    expect(text.split("\n").length).toBeLessThan(25);
  }
});
