import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

const GATEWAYS = join(__dirname, "../../../src/infrastructure/gateways");

const textsUnder = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".ts"))
    .map((name) => readFileSync(join(folder, name), "utf8"));

/** Gateways, and memories of the simulated one, that no file with the contract suite in it names. */
function uncovered(sources: readonly string[], tests: readonly string[]): string[] {
  return sources
    .flatMap((source) => [...source.matchAll(/class (\w+) implements ([^{]+) \{/g)])
    .filter(([, , ports = ""]) => /\b(?:PaymentGateway|GatewayLedger)\b/.test(ports))
    .map(([, name = ""]) => name)
    .filter((name) => !tests.some((test) => new RegExp(`\\b${name}\\b`).test(test)));
}

describe("the contract of payment gateways", () => {
  const tests = textsUnder(__dirname);

  it("the contract of payment gateways is run by every gateway, and on every memory of the simulated one", () => {
    expect(uncovered(textsUnder(GATEWAYS), tests)).toEqual([]);
  });

  it("an adapter without it is noticed", () => {
    const planted = [
      "export class PigeonGateway implements PaymentGateway {",
      "class ClayLedger implements GatewayLedger {",
      "class Other implements Clock {",
    ];
    expect(
      uncovered(
        planted,
        tests.filter((test) => !test.includes("Pigeon")),
      ),
    ).toEqual(["PigeonGateway", "ClayLedger"]);
  });
});
