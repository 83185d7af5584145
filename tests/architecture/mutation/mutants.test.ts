import { readFileSync } from "node:fs";
import { join } from "node:path";
import { transformSync } from "esbuild";
import { AREAS } from "../../../scripts/mutation/areas";
import { findEqual, nameOf, type EqualMutant } from "../../../scripts/mutation/equal-mutants";
import listed from "../../../scripts/mutation/equal.json";
import { switchMutants } from "../../../scripts/mutation/switch-mutants";

const root = join(__dirname, "../../..");
const equalMutants = listed as readonly EqualMutant[];

const SOURCE = `
export function priceOf(items: readonly { readonly price?: number; readonly name: string }[], log: (text: string) => void) {
  let total = 0;
  for (const { price, name } of items) {
    if (price === undefined || price < 0) continue;
    log(\`\${name}: \${price}\`);
    total += price;
  }
  switch (items.length) {
    case 2:
      return "nothing";
    default:
      return items.at(0)?.name.toUpperCase() + " and others: " + total;
  }
}
`;

const BASKETS: readonly unknown[] = [
  [],
  ...[1, 0, -1, undefined].map((price) => [{ name: "a", price }]),
  [
    { name: "a", price: 2 },
    { name: "b", price: 3 },
  ],
];

/** What the program answers and logs for each basket, with one of its mutants or with none. */
function doings(text: string, mutant: number): string {
  const { code } = transformSync(text, { loader: "ts", format: "cjs" });
  const module = { exports: {} as { priceOf: (items: unknown, log: (text: string) => void) => unknown } };
  // eslint-disable-next-line @typescript-eslint/no-implied-eval -- the program under test, as a module
  const load = new Function("module", "globalThis", code) as (...parts: object[]) => void;
  load(module, { holdfastMutants: { asks: (id: number) => id === mutant } });
  const logged: string[] = [];
  const answers = BASKETS.map((basket) => {
    try {
      return String(module.exports.priceOf(basket, (line) => logged.push(line)));
    } catch (error) {
      return String(error);
    }
  });
  return [...answers, ...logged].join("\n");
}

test("each mutant is behind a switch of its own and makes a difference, and the program without any does what it did", () => {
  const { text, mutants } = switchMutants("price.ts", SOURCE, 1);
  const asWritten = doings(SOURCE, 0);
  expect(doings(text, 0)).toBe(asWritten);
  expect(mutants.filter(({ id }) => doings(text, id) === asWritten)).toEqual([]);
  expect(mutants.map(nameOf).slice(2)).toEqual([
    "logic: price === undefined || price < 0 → (price === undefined) && (price < 0)",
    "condition: price === undefined || price < 0 → true",
    "condition: price === undefined || price < 0 → false",
    "equality: price === undefined → price !== undefined",
    "condition: price === undefined → false",
    "equality: price < 0 → price <= 0",
    "equality: price < 0 → price >= 0",
    "condition: price < 0 → false",
    "statement: log(`${name}: ${price}`); → ",
    "string: `${name}: ${price}` → ``",
    "assignment: total += price → total -= price",
    'case: case 2: return "nothing"; → ',
    'string: "nothing" → ""',
    'case: default: return items.at(0)?.name.toUpperCase() + " and others: " + total; → ',
    'arithmetic: items.at(0)?.name.toUpperCase() + " and others: " + total → (items.at(0)?.name.toUpperCase() + " and others: ") - total',
    "method: items.at(0)?.name.toUpperCase() → items.at(0)?.name.toLowerCase()",
    "optional chain: items.at(0)?.name.toUpperCase() → items.at(0).name.toUpperCase()",
    'string: " and others: " → ""',
  ]);
});

test("each mutant that is listed as equal is still one of the program's, and says why nobody could tell the difference", () => {
  for (const entry of equalMutants) {
    const { mutants } = switchMutants(entry.file, readFileSync(join(root, entry.file), "utf8"), 1);
    expect(findEqual(mutants, [entry]).unmatched).toEqual([]);
    expect(entry.because.length).toBeGreaterThan(20);
    expect(AREAS.some(({ sources }) => sources.some((source) => entry.file.startsWith(source)))).toBe(true);
  }
});

test("an entry of the list whose line has changed is found out", () => {
  const { mutants } = switchMutants("price.ts", SOURCE, 1);
  const entry = {
    file: "price.ts",
    line: "total += price;",
    mutant: "assignment: total += price → total -= price",
    because: "",
  };
  expect(findEqual(mutants, [entry]).unmatched).toEqual([]);
  expect(findEqual(mutants, [{ ...entry, line: "total += cost;" }]).unmatched).toHaveLength(1);
});
