import ts from "typescript";

/** One way in which a node could be wrong: what stands in its place. */
export interface Mutation {
  readonly kind: string;
  readonly replacement: string;
}

const SWAPPED: Readonly<Record<string, readonly (readonly [kind: string, operator: string])[]>> = {
  "+": [["arithmetic", "-"]],
  "-": [["arithmetic", "+"]],
  "*": [["arithmetic", "/"]],
  "/": [["arithmetic", "*"]],
  "%": [["arithmetic", "*"]],
  "===": [["equality", "!=="]],
  "!==": [["equality", "==="]],
  "<": [["equality", "<="], ["equality", ">="]], // prettier-ignore
  "<=": [["equality", "<"], ["equality", ">"]], // prettier-ignore
  ">": [["equality", ">="], ["equality", "<="]], // prettier-ignore
  ">=": [["equality", ">"], ["equality", "<"]], // prettier-ignore
  "&&": [["logic", "||"]],
  "||": [["logic", "&&"]],
  "??": [["logic", "&&"]],
  "+=": [["assignment", "-="]],
  "-=": [["assignment", "+="]],
  "*=": [["assignment", "/="]],
  "/=": [["assignment", "*="]],
  "??=": [["assignment", "&&="]],
  "&&=": [["assignment", "||="]],
  "||=": [["assignment", "&&="]],
};
const BOOLEAN = new Set(["===", "!==", "<", "<=", ">", ">=", "&&", "||"]);

/** A method without which, or with another one, the call still makes sense. */
const METHODS: Readonly<Record<string, string | undefined>> = {
  every: "some",
  some: "every",
  max: "min",
  min: "max",
  startsWith: "endsWith",
  endsWith: "startsWith",
  toLowerCase: "toUpperCase",
  toUpperCase: "toLowerCase",
  filter: undefined,
  slice: undefined,
  sort: undefined,
  toSorted: undefined,
  reverse: undefined,
  toReversed: undefined,
  trim: undefined,
};

/** Of an expression; statements are left out by `statementMutation`. */
export function mutationsOf(node: ts.Expression): readonly Mutation[] {
  const text = (part: ts.Node): string => part.getText();
  const found: Mutation[] = [];
  const add = (kind: string, ...replacements: string[]): void => {
    for (const replacement of replacements) found.push({ kind, replacement });
  };
  if (ts.isBinaryExpression(node)) {
    const operator = text(node.operatorToken);
    for (const [kind, other] of SWAPPED[operator] ?? [])
      if (!(operator === "+" && (isText(node.left) || isText(node.right))))
        add(kind, `${operand(node.left)} ${other} ${operand(node.right)}`);
  } else if (ts.isPrefixUnaryExpression(node)) {
    if (node.operator === ts.SyntaxKind.ExclamationToken) add("negation", text(node.operand));
    if (node.operator === ts.SyntaxKind.MinusToken) add("unary", `+${text(node.operand)}`);
    if (node.operator === ts.SyntaxKind.PlusPlusToken) add("update", `--${text(node.operand)}`);
    if (node.operator === ts.SyntaxKind.MinusMinusToken) add("update", `++${text(node.operand)}`);
  } else if (ts.isPostfixUnaryExpression(node))
    add("update", `${text(node.operand)}${node.operator === ts.SyntaxKind.PlusPlusToken ? "--" : "++"}`);
  else if (node.kind === ts.SyntaxKind.TrueKeyword) add("boolean", "false");
  else if (node.kind === ts.SyntaxKind.FalseKeyword) add("boolean", "true");
  else if (ts.isStringLiteralLike(node)) add("string", node.text === "" ? '"mutated"' : '""');
  else if (ts.isTemplateExpression(node)) add("string", "``");
  else if (ts.isObjectLiteralExpression(node) && node.properties.length > 0) add("object", "{}");
  else if (ts.isArrayLiteralExpression(node)) add("array", node.elements.length > 0 ? "[]" : '["mutated"]');
  else if (ts.isArrowFunction(node) && !ts.isBlock(node.body) && text(node.body) !== "undefined")
    add("arrow", "() => undefined");
  else if (ts.isCallExpression(node)) methodMutations(node, add);
  for (const replacement of conditions(node)) add("condition", replacement);
  if (isEndOfChain(node))
    for (const replacement of withoutQuestions(node)) add("optional chain", replacement);
  return found;
}

function methodMutations(node: ts.CallExpression, add: (kind: string, replacement: string) => void): void {
  const callee = node.expression;
  if (!ts.isPropertyAccessExpression(callee) || !Object.hasOwn(METHODS, callee.name.text)) return;
  const other = METHODS[callee.name.text];
  const object = callee.expression.getText();
  const from = callee.name.end - node.getStart();
  const dot = callee.questionDotToken === undefined ? "." : "?.";
  add("method", other === undefined ? object : `${object}${dot}${other}${node.getText().slice(from)}`);
}

/** What a condition could be wrong about, without those that another mutant of the same line amounts to. */
function conditions(node: ts.Expression): readonly string[] {
  const parent = outside(node);
  const isTest =
    (ts.isIfStatement(parent) && parent.expression === parenthesized(node)) ||
    (ts.isConditionalExpression(parent) && parent.condition === parenthesized(node));
  if (isTest) return isLiteral(node) ? [] : ["true", "false"];
  const isLoop =
    ((ts.isWhileStatement(parent) || ts.isDoStatement(parent)) &&
      parent.expression === parenthesized(node)) ||
    (ts.isForStatement(parent) && parent.condition === node);
  if (isLoop) return isLiteral(node) ? [] : ["false"];
  if (!ts.isBinaryExpression(node) || !BOOLEAN.has(node.operatorToken.getText())) return [];
  const around = ts.isBinaryExpression(parent) ? parent.operatorToken.getText() : "";
  if (around === "||") return ["false"];
  return around === "&&" ? ["true"] : ["true", "false"];
}

function isLiteral(node: ts.Node): boolean {
  return node.kind === ts.SyntaxKind.TrueKeyword || node.kind === ts.SyntaxKind.FalseKeyword;
}

function parenthesized(node: ts.Node): ts.Node {
  return ts.isParenthesizedExpression(node.parent) ? parenthesized(node.parent) : node;
}

function outside(node: ts.Node): ts.Node {
  return parenthesized(node).parent;
}

/** Another operator may bind less or more than the one that stood there. */
function operand(node: ts.Expression): string {
  return ts.isBinaryExpression(node) ? `(${node.getText()})` : node.getText();
}

function isText(node: ts.Node): boolean {
  return ts.isStringLiteralLike(node) || ts.isTemplateExpression(node);
}

type Link =
  ts.PropertyAccessExpression | ts.ElementAccessExpression | ts.CallExpression | ts.NonNullExpression;

function isLink(node: ts.Node): node is Link {
  return (
    ts.isPropertyAccessExpression(node) ||
    ts.isElementAccessExpression(node) ||
    ts.isCallExpression(node) ||
    ts.isNonNullExpression(node)
  );
}

/** The rest of a chain of `?.` is skipped as a whole: nothing can be put around a part of it. */
export function isInsideOfChain(node: ts.Node): boolean {
  const { parent } = node;
  return isLink(parent) && parent.expression === node && (parent.flags & ts.NodeFlags.OptionalChain) !== 0;
}

function isEndOfChain(node: ts.Node): boolean {
  return isLink(node) && (node.flags & ts.NodeFlags.OptionalChain) !== 0 && !isInsideOfChain(node);
}

function withoutQuestions(chain: ts.Expression): readonly string[] {
  const start = chain.getStart();
  const all = chain.getText();
  const found: string[] = [];
  for (let node: ts.Node = chain; isLink(node); node = node.expression) {
    if (ts.isNonNullExpression(node) || node.questionDotToken === undefined) continue;
    const { questionDotToken: token } = node;
    const before = all.slice(0, token.getStart() - start);
    found.push(`${before}${ts.isPropertyAccessExpression(node) ? "." : ""}${all.slice(token.end - start)}`);
  }
  return found;
}

/** A block or a case that does nothing, a call that is left out; undefined where the language needs the statement. */
export function statementMutation(node: ts.Node): Mutation | undefined {
  if (ts.isBlock(node)) return canBeEmpty(node) ? { kind: "block", replacement: "{}" } : undefined;
  if (ts.isCaseOrDefaultClause(node))
    return node.statements.length > 0 ? { kind: "case", replacement: "" } : undefined;
  if (!ts.isExpressionStatement(node)) return undefined;
  const isAlone = ts.isBlock(node.parent) && node.parent.statements.length === 1 && canBeEmpty(node.parent);
  return isCall(node.expression) && !isAlone ? { kind: "statement", replacement: "" } : undefined;
}

function canBeEmpty(block: ts.Block): boolean {
  if (block.statements.length === 0) return false;
  return !ts.isConstructorDeclaration(block.parent) || !block.getText().includes("super(");
}

function isCall(node: ts.Expression): boolean {
  if (ts.isAwaitExpression(node) || ts.isVoidExpression(node)) return isCall(node.expression);
  return ts.isCallExpression(node) && node.expression.kind !== ts.SyntaxKind.SuperKeyword;
}
