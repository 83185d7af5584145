import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

const SOURCES = join(__dirname, "../../src");
const CONTRACTS = join(__dirname, "lock-providers");

const filesUnder = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".ts"))
    .map((name) => readFileSync(join(folder, name), "utf8"));

interface Provider {
  readonly name: string;
  readonly parent: string;
}

/** Classes that implement the port, and those that extend one that does. */
function lockProviders(sources: readonly string[]): Provider[] {
  const declarations = sources.flatMap((source) => [
    ...source.matchAll(
      /class (\w+)(?:<[^{>]*>)?(?: extends (\w+))?(?:<[^{>]*>)?(?: implements ([^{]+))? \{/g,
    ),
  ]);
  const found = new Map<string, Provider>();
  for (let before = -1; before < found.size;) {
    before = found.size;
    for (const [, name = "", parent = "", ports = ""] of declarations)
      if (/\bLockProvider\b/.test(ports) || found.has(parent)) found.set(name, { name, parent });
  }
  return [...found.values()];
}

/** Neither it nor one that is made of it runs the suite. */
function uncovered(providers: readonly Provider[], contracts: readonly string[]): string[] {
  const isCovered = ({ name }: Provider): boolean =>
    contracts.some(
      (test) => test.includes("describeLockProvider(") && new RegExp(`\\b${name}\\b`).test(test),
    ) || providers.some((other) => other.parent === name && isCovered(other));
  return providers.filter((provider) => !isCovered(provider)).map(({ name }) => name);
}

describe("every lock provider", () => {
  it("every lock provider runs the contract suite", () => {
    const providers = lockProviders(filesUnder(SOURCES));
    const names = providers.map(({ name }) => name);
    expect(names).toEqual(
      expect.arrayContaining(["MemoryLockProvider", "NoOpLockProvider", "LinedLockProvider"]),
    );
    expect(uncovered(providers, filesUnder(CONTRACTS))).toEqual([]);
  });

  it("would be missed if it did not, however it comes to be one", () => {
    const planted = lockProviders([
      "export class DirectLockProvider implements LockProvider {",
      "export class DerivedLockProvider extends LinedLockProvider {",
      "export class LinedLockProvider implements LockProvider {",
      "export class TwiceRemoved extends DerivedLockProvider {",
      "export class Generic<T> extends Base<T> implements Closeable, LockProvider {",
      "class Unrelated implements LockBackend {",
    ]);
    expect(planted.map(({ name }) => name).sort()).toEqual([
      "DerivedLockProvider",
      "DirectLockProvider",
      "Generic",
      "LinedLockProvider",
      "TwiceRemoved",
    ]);
    expect(uncovered(planted, filesUnder(CONTRACTS)).sort()).toEqual([
      "DerivedLockProvider",
      "DirectLockProvider",
      "Generic",
      "TwiceRemoved",
    ]);
  });
});
