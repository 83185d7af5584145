import { figureOf, tableOf, type Judged } from "../../../scripts/mutation/report";

const judged = (outcome: Judged["verdict"]["outcome"], more: Partial<Judged> = {}): Judged => ({
  verdict: { mutant: { area: "domain" } as Judged["verdict"]["mutant"], outcome },
  isEqual: false,
  isRefused: false,
  ...more,
});

const tried: readonly Judged[] = [
  judged("found"),
  judged("not in time"),
  judged("survived", { isRefused: true }),
  judged("survived"),
  // Neither counts.
  judged("survived", { isEqual: true }),
  judged("undecided"),
];

test("what was found by a test, by time or by the compiler counts, and what makes no difference or was not decided does not", () => {
  expect(figureOf(tried)).toBe(75);
  expect(tableOf([tried[0]!.verdict.mutant], tried)).toMatch(
    /^\| domain \| 1 \| 5 \| 1 \| 1 \| 1 \| 1 \| 1 \| 75\.0 % \|$/m,
  );
});

test("a mutant that no test comes to is missed; of nothing there is no figure, and no least one is reached", () => {
  expect(figureOf([judged("no test"), judged("found")])).toBe(50);
  expect(figureOf([]) >= 0).toBe(false);
  expect(tableOf([tried[0]!.verdict.mutant], [])).toMatch(/– \|$/m);
});
