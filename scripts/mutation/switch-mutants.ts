import ts from "typescript";
import { isInsideOfChain, mutationsOf, statementMutation, type Mutation } from "./mutations-of";

export interface Mutant extends Mutation {
  readonly id: number;
  readonly file: string;
  /** Counted from one. */
  readonly line: number;
  /** The line's text, by which a list of equal mutants finds it when lines have moved. */
  readonly lineText: string;
  readonly original: string;
  readonly start: number;
  readonly end: number;
}

const SWITCH = "__mutated";
// Declared, not assigned: modules that import each other in a circle ask before this one has run. Without the runner, no mutant is on.
const HEAD = `function ${SWITCH}(id: number): boolean { const on = (globalThis as any).holdfastMutants; return on !== undefined && on.asks(id); } `;

/**
 * The same program with all its mutants, each behind a switch: `(__mutated(7) ? a >= b : a > b)`. It is compiled once, and a
 * run chooses the mutant. Numbers go on from `firstId`.
 */
export function switchMutants(file: string, source: string, firstId: number) {
  const tree = ts.createSourceFile(file, source, ts.ScriptTarget.ES2023, true);
  const lines = source.split("\n");
  const mutants: Mutant[] = [];

  const add = (node: ts.Node, mutation: Mutation): number => {
    const id = firstId + mutants.length;
    const start = node.getStart();
    const { line } = tree.getLineAndCharacterOfPosition(start);
    const original = node.getText();
    const lineText = lines[line]!.trim();
    mutants.push({ ...mutation, id, file, line: line + 1, lineText, original, start, end: node.end });
    return id;
  };

  const withParts = (node: ts.Node): string => {
    let written = "";
    let at = node.getStart();
    ts.forEachChild(node, (child) => {
      const start = child.getStart();
      if (start < at) return;
      written += source.slice(at, start) + write(child);
      at = child.end;
    });
    return written + source.slice(at, node.end);
  };

  const write = (node: ts.Node): string => {
    if (isWithoutMutants(node)) return node.getText();
    const statement = statementMutation(node);
    if (statement !== undefined) {
      const id = add(node, statement);
      if (!ts.isCaseOrDefaultClause(node)) return `{ if (${SWITCH}(${id})) {} else ${withParts(node)} }`;
      const head = source.slice(node.getStart(), node.statements[0]!.getStart());
      const written = node.statements.map(write).join("\n");
      return `${head} if (${SWITCH}(${id})) {} else { ${written} }`;
    }
    if (!ts.isExpression(node) || !canBeWrapped(node)) return withParts(node);
    const switches = mutationsOf(node).map(
      (mutation) => `${SWITCH}(${add(node, mutation)}) ? (${mutation.replacement}) : `,
    );
    return switches.length === 0 ? withParts(node) : `(${switches.join("")}${withParts(node)})`;
  };

  const text = HEAD + source.slice(0, tree.getStart()) + withParts(tree);
  return { text, mutants };
}

function isWithoutMutants(node: ts.Node): boolean {
  return (
    ts.isTypeNode(node) ||
    ts.isInterfaceDeclaration(node) ||
    ts.isTypeAliasDeclaration(node) ||
    ts.isImportDeclaration(node) ||
    ts.isExportDeclaration(node) ||
    ts.isDecorator(node) ||
    ts.isEnumDeclaration(node) ||
    ts.isHeritageClause(node) ||
    ts.isTypeParameterDeclaration(node) ||
    node.kind === ts.SyntaxKind.TemplateHead ||
    node.kind === ts.SyntaxKind.TemplateMiddle ||
    node.kind === ts.SyntaxKind.TemplateTail
  );
}

/** Whether `(… ? … : node)` can stand where the node stands. */
function canBeWrapped(node: ts.Expression): boolean {
  const { parent } = node;
  if (isInsideOfChain(node)) return false;
  if (ts.isTaggedTemplateExpression(parent) && parent.template === node) return false;
  if (ts.isBinaryExpression(parent) && parent.left === node && isAssignment(parent)) return false;
  if (ts.isDeleteExpression(parent) || ts.isExpressionWithTypeArguments(parent)) return false;
  if ("name" in parent && parent.name === node) return false;
  if (ts.isBindingElement(parent) && parent.propertyName === node) return false;
  if (
    ts.isCallExpression(parent) &&
    ["require", "Symbol.for", "import"].includes(parent.expression.getText())
  )
    return false;
  return !(ts.isForOfStatement(parent) && parent.initializer === node);
}

function isAssignment(node: ts.BinaryExpression): boolean {
  const { kind } = node.operatorToken;
  return kind >= ts.SyntaxKind.FirstAssignment && kind <= ts.SyntaxKind.LastAssignment;
}
