// Preloaded into a program that is forked: notes which files of src call which, between the messages "begin" and "end".
const { AsyncLocalStorage } = require("node:async_hooks");
const { readFileSync } = require("node:fs");
const { Server } = require("node:http");
const { join, relative, sep } = require("node:path");
const ts = require("typescript");

const SRC = join(__dirname, "..", "src") + sep;
const CALLS_TO_NOTE = "__noteCall";
const { compilerOptions } = ts.readConfigFile(join(__dirname, "..", "tsconfig.json"), ts.sys.readFile).config;
const options = {
  ...ts.convertCompilerOptionsFromJson(compilerOptions, SRC).options,
  noEmit: false,
  module: 1,
};

let isNoting = false;
// Only what a request sets going counts, until it is answered: what other work does meanwhile is not its own.
const answering = new AsyncLocalStorage();
const files = new Set();
const calls = new Set();

// Deep enough to find the caller behind frames of libraries.
Error.stackTraceLimit = 40;

globalThis[CALLS_TO_NOTE] = (callee) => {
  if (answering.getStore()?.isAnswered !== false) return;
  files.add(callee);
  const frames = new Error().stack.match(/[^\s(]+\.ts(?=:\d)/g) ?? [];
  const caller = frames.map(nameOf).find((file) => file !== null && file !== callee);
  if (caller !== undefined) calls.add(`${caller} ${callee}`);
};

const emit = Server.prototype.emit;
Server.prototype.emit = function (name, ...values) {
  if (name !== "request" || !isNoting) return emit.call(this, name, ...values);
  const request = { isAnswered: false };
  values[1].once("finish", () => (request.isAnswered = true));
  return answering.run(request, () => emit.call(this, name, ...values));
};

process.on("message", (message) => {
  isNoting = message === "begin";
  if (message === "begin") process.send({ noting: true });
  else process.send({ files: [...files].sort(), calls: [...calls].sort() });
});

require.extensions[".ts"] = (module, path) => {
  const file = nameOf(path);
  const { outputText } = ts.transpileModule(readFileSync(path, "utf8"), {
    fileName: path,
    compilerOptions: options,
    transformers: { before: file === null ? [] : [notingCallsOf(file)] },
  });
  module._compile(outputText, path);
};

/** Relative to src; null for what is not in it. */
function nameOf(path) {
  const at = path.replace(/^file:\/\//, "");
  return at.startsWith(SRC) ? relative(SRC, at) : null;
}

/** Each function of the file begins by saying so. */
function notingCallsOf(file) {
  return (context) => {
    const { factory } = context;
    const note = () =>
      factory.createCallExpression(factory.createIdentifier(CALLS_TO_NOTE), undefined, [
        factory.createStringLiteral(file),
      ]);
    const visit = (given) => {
      const node = ts.visitEachChild(given, visit, context);
      if (ts.isArrowFunction(node) && !ts.isBlock(node.body)) {
        const body = factory.createParenthesizedExpression(factory.createComma(note(), node.body));
        return factory.updateArrowFunction(
          node,
          node.modifiers,
          node.typeParameters,
          node.parameters,
          node.type,
          node.equalsGreaterThanToken,
          body,
        );
      }
      const isBody = ts.isBlock(node) && ts.isFunctionLike(given.parent) && given.parent.body === given;
      // What calls `super` first may not do anything before it.
      if (!isBody || ts.isConstructorDeclaration(given.parent)) return node;
      return factory.updateBlock(node, [factory.createExpressionStatement(note()), ...node.statements]);
    };
    return (source) => ts.visitEachChild(source, visit, context);
  };
}
