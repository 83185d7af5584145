import { SeededRandom } from "../../../simulation/lease/seeded-random";
import { size } from "../../test-size";
import { canBeOrdered } from "./brute-force";
import { checkSpans } from "./check-spans";
import type { Model, Span } from "./span";

const SMALL_HISTORIES = size(10_000, 3_000);
const CALLS = size(100_000, 20_000);

/** A number that is written, read, and written if it is what the caller expects. `flips` turns it by itself. */
type Call =
  | { readonly does: "write"; readonly value: number }
  | { readonly does: "read"; readonly value: number }
  | { readonly does: "swap"; readonly from: number; readonly to: number; readonly swapped: boolean };

const register: Model<number, Call> = {
  initial: 0,
  nameOf: String,
  apply(state, call) {
    if (call.does === "write") return [call.value];
    if (call.does === "read") return call.value === state ? [state] : [];
    if (call.swapped !== (call.from === state)) return [];
    return [call.swapped ? call.to : state];
  },
};

/** Goes from 1 to 2 by itself, and loses some of what is written to it. */
const restless: Model<number, Call> = {
  ...register,
  apply: (state, call) => (call.does === "write" ? [call.value, state] : register.apply(state, call)),
  onItsOwn: (state) => (state === 1 ? [2] : []),
};

const write = (value: number): Call => ({ does: "write", value });
const read = (value: number): Call => ({ does: "read", value });
const span = (begin: number, end: number, call: Call, required = true): Span<Call> => ({
  begin,
  end,
  call,
  required,
  onlyLooks: required && call.does === "read",
});

describe("a history of one number", () => {
  test("is good if each read sees the last write before it, or one that was under way", () => {
    const history = [span(0, 2, write(1)), span(3, 9, write(2)), span(4, 5, read(1)), span(6, 7, read(2))];
    expect(checkSpans(register, history)).toEqual({ isGood: true });
  });

  test("is bad if a read sees what was overwritten before it began", () => {
    const history = [span(0, 1, write(1)), span(2, 3, write(2)), span(4, 5, read(1))];
    expect(checkSpans(register, history)).toEqual({
      isGood: false,
      unexplained: history[2],
      explained: 2,
      states: [2],
    });
  });

  test("is bad if two reads see two writes in an order that none of them allows", () => {
    const writes = [span(0, 20, write(1)), span(0, 20, write(2))];
    const seen = [read(1), read(2), read(1)].map((call, n) => span(2 * n + 1, 2 * n + 2, call));
    expect(checkSpans(register, [...writes, ...seen]).isGood).toBe(false);
    expect(checkSpans(register, [...writes, ...seen.slice(0, 2)]).isGood).toBe(true);
  });

  test("may have a write that was never answered take effect much later, or never, but not before it began", () => {
    const lost = span(2, Infinity, write(7), false);
    expect(checkSpans(register, [lost, span(90, 91, read(0)), span(92, 93, read(7))]).isGood).toBe(true);
    expect(checkSpans(register, [lost, span(90, 91, read(7)), span(92, 93, read(0))]).isGood).toBe(false);
    expect(checkSpans(register, [lost, span(0, 1, read(7))]).isGood).toBe(false);
  });

  test("may have something take effect until it ended, and not after that", () => {
    const maybe = span(0, 5, write(7), false);
    expect(checkSpans(register, [maybe, span(8, 9, read(7))]).isGood).toBe(true);
    expect(checkSpans(register, [maybe, span(6, 7, read(0)), span(8, 9, read(7))]).isGood).toBe(false);
  });

  test("may have two swaps at once of which one succeeds, and not both", () => {
    const swap = (swapped: boolean): Call => ({ does: "swap", from: 0, to: 1, swapped });
    expect(checkSpans(register, [span(0, 5, swap(true)), span(0, 5, swap(false))]).isGood).toBe(true);
    expect(checkSpans(register, [span(0, 5, swap(true)), span(0, 5, swap(true))]).isGood).toBe(false);
  });
});

function randomCall(random: SeededRandom): Call {
  const value = () => Math.floor(random.between(0, 3));
  if (random.chance(0.4)) return write(value());
  if (random.chance(0.6)) return read(value());
  return { does: "swap", from: value(), to: value(), swapped: random.chance(0.5) };
}

function randomSpans(random: SeededRandom): Span<Call>[] {
  return Array.from({ length: 2 + Math.floor(random.between(0, 5)) }, () => {
    const begin = Math.floor(random.between(0, 12));
    const call = randomCall(random);
    const end = random.chance(0.15) ? Infinity : begin + Math.floor(random.between(0, 6));
    const required = end !== Infinity && random.chance(0.85);
    const alike = required ? {} : { alike: JSON.stringify(call) };
    return { begin, end, call, required, onlyLooks: required && call.does === "read", ...alike };
  });
}

describe.each([
  ["a register", register],
  ["a register that loses writes and changes by itself", restless],
])("%s", (_, model) => {
  test(`is judged as if every order of effects had been tried: ${SMALL_HISTORIES} small histories`, () => {
    const random = new SeededRandom(7);
    const judged = { good: 0, bad: 0 };
    for (let n = 0; n < SMALL_HISTORIES; n += 1) {
      const spans = randomSpans(random);
      const { isGood } = checkSpans(model, spans);
      if (isGood !== canBeOrdered(model, spans))
        throw new Error(`history ${n} is said to be ${isGood ? "good" : "bad"}: ${JSON.stringify(spans)}`);
      judged[isGood ? "good" : "bad"] += 1;
    }
    // Else the comparison says little.
    expect(Math.min(judged.good, judged.bad)).toBeGreaterThan(0.15 * SMALL_HISTORIES);
  });
});

test(`${CALLS} calls of which eight are under way at a time are judged`, () => {
  const random = new SeededRandom(3);
  const spans: Span<Call>[] = [];
  let state = 0;
  for (let n = 0; n < CALLS; n += 1) {
    const call = random.chance(0.3) ? write(Math.floor(random.between(0, 100))) : read(state);
    if (call.does === "write") state = call.value;
    spans.push(span(n - random.between(0, 4), n + random.between(0, 4), call));
  }
  expect(checkSpans(register, spans)).toEqual({ isGood: true });
  const last = spans.findLastIndex(({ call }) => call.does === "read");
  spans[last] = { ...spans[last]!, call: read(-1) };
  expect(checkSpans(register, spans).isGood).toBe(false);
});
