import { readFileSync } from "node:fs";
import { join } from "node:path";
import { projectFiles } from "./documents";
import { projectRoot } from "./planted-project";

/** Ports with a suite in tests/contracts, beside those of locks, which count their adapters themselves. */
const portsWithContract = ["PaymentRepository", "PaymentGateway", "SnapshotStore", "LeaseRecordStore"];

interface ClassDeclaration {
  readonly name: string;
  readonly abstract: boolean;
  readonly parents: readonly string[];
}

function classesIn(text: string): ClassDeclaration[] {
  const declarations =
    /export (abstract )?class (\w+)(?:<[^{]*?>)?((?: (?:extends|implements) [\w<>, ]+)*) \{/g;
  return [...text.matchAll(declarations)].map(([, abstract, name = "", heritage = ""]) => ({
    name,
    abstract: abstract !== undefined,
    parents: heritage.split(/\s+(?:extends|implements)\s+|[\s,<>]+/).filter(Boolean),
  }));
}

/** Classes that can be made and are, themselves or by a parent, one of the ports. */
function adapters(classes: readonly ClassDeclaration[]): string[] {
  const isAdapter = ({ parents }: ClassDeclaration): boolean =>
    parents.some(
      (parent) =>
        portsWithContract.includes(parent) || classes.some((each) => each.name === parent && isAdapter(each)),
    );
  return classes.filter((each) => !each.abstract && isAdapter(each)).map(({ name }) => name);
}

function textsUnder(folder: string): string[] {
  return projectFiles()
    .filter((path) => path.startsWith(folder) && path.endsWith(".ts"))
    .map((path) => readFileSync(join(projectRoot, path), "utf8"));
}

describe("contract suites", () => {
  test("are run by every adapter of a port that has one", () => {
    const contracts = textsUnder("tests/contracts/").join("\n");
    const all = adapters(textsUnder("src/infrastructure/").flatMap(classesIn));
    expect(all.length).toBeGreaterThan(1);
    expect(all.filter((name) => !new RegExp(`\\b${name}\\b`).test(contracts))).toEqual([]);
  });

  test("an adapter is recognized, also behind an abstract parent", () => {
    const text = `
      export abstract class Sql<T> implements PaymentRepository {
      export class Sqlite extends Sql<Row> {
      export class Vault implements SnapshotStore, AsyncDisposable {
      export class Clock implements LockClock {`;
    expect(adapters(classesIn(text))).toEqual(["Sqlite", "Vault"]);
  });
});
