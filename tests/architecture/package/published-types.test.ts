import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import * as ts from "typescript";
import { builtProgram } from "../../support/program/built-program";

jest.setTimeout(120_000);

const { exports: published } = JSON.parse(
  readFileSync(join(__dirname, "..", "..", "..", "package.json"), "utf8"),
) as {
  exports: Record<string, string | { types: string }>;
};
const entries = Object.values(published).flatMap((entry) => (typeof entry === "string" ? [] : [entry.types]));

/** What the declarations that an entry publishes mention of ours, and no entry exports. */
function unexported(files: readonly string[]): string[] {
  const program = ts.createProgram(files, { module: ts.ModuleKind.Node20, target: ts.ScriptTarget.ES2023 });
  const checker = program.getTypeChecker();
  const meant = (symbol: ts.Symbol): ts.Symbol =>
    symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol;
  const exported = new Set(
    files.flatMap((file) => {
      const module = checker.getSymbolAtLocation(program.getSourceFile(file)!)!;
      return checker.getExportsOfModule(module).map(meant);
    }),
  );
  const isOurs = (node: ts.Node): boolean =>
    !node.getSourceFile().fileName.includes("/node_modules/@") &&
    node.getSourceFile().fileName.startsWith(dirname(files[0]!));
  const found = new Set<string>();
  const look = (node: ts.Node, by: string): void => {
    const name = ts.isTypeReferenceNode(node)
      ? node.typeName
      : ts.isExpressionWithTypeArguments(node)
        ? node.expression
        : ts.isTypeQueryNode(node)
          ? node.exprName
          : undefined;
    const symbol = name && checker.getSymbolAtLocation(name);
    if (symbol !== undefined) {
      const target = meant(symbol);
      const isLocal = (target.flags & (ts.SymbolFlags.TypeParameter | ts.SymbolFlags.EnumMember)) !== 0;
      if (!isLocal && !exported.has(target) && target.declarations?.some(isOurs) === true)
        found.add(`${target.name}, mentioned by ${by}`);
    }
    ts.forEachChild(node, (child) => look(child, by));
  };
  for (const symbol of exported)
    for (const declaration of symbol.declarations ?? [])
      if (isOurs(declaration)) look(declaration, symbol.name);
  return [...found].sort();
}

test("everything that a published signature mentions is exported", async () => {
  const built = dirname(dirname(await builtProgram()));
  expect(unexported(entries.map((entry) => join(built, entry)))).toEqual([]);
});
