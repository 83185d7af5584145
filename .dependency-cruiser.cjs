// Who may import whom. Each rule has a planted violation in tests/architecture/layers.test.ts that must be caught.
const npm = (name) => `(^|/)node_modules/${name}/`;

/** A client that is heavy to load, or that only one adapter may know, stays in files named after its technology. */
const clientStaysIn = (name, fileName) => ({
  name: `${fileName}-client-stays-in-its-adapter`,
  comment: `${name} loads only when its adapter is chosen, so nobody but that adapter may name it.`,
  severity: "error",
  from: { path: "^src/", pathNot: `^src/infrastructure/.*\\b${fileName}\\b` },
  to: { path: npm(name) },
});

module.exports = {
  forbidden: [
    {
      name: "domain-imports-only-domain",
      comment: "The rules of a payment know no clock, no database, no library and no Node.",
      severity: "error",
      from: { path: "^src/domain/" },
      to: { pathNot: "^src/domain/" },
    },
    {
      name: "payments-are-written-by-their-steps",
      comment:
        "How a payment is written is known to the steps beside it. What others may do with one is one of those steps.",
      severity: "error",
      from: { path: "^src/", pathNot: "^src/domain/payment/" },
      to: { path: "^src/domain/payment/record/" },
    },
    {
      name: "payments-are-restored-by-stores",
      comment:
        "Whoever makes a payment of facts decides what is true of it, and forgets its unsaved history.",
      severity: "error",
      from: { path: "^src/", pathNot: "^src/infrastructure/persistence/" },
      to: { path: "^src/domain/payment/restored\\.ts$" },
    },
    {
      name: "application-imports-only-domain",
      comment:
        "Use cases reach the world through ports. node:crypto is allowed: a fingerprint is a pure function.",
      severity: "error",
      from: { path: "^src/application/" },
      to: { pathNot: ["^src/(application|domain)/", "^(node:)?crypto$"] },
    },
    {
      name: "adapters-do-not-know-interfaces",
      comment:
        "An adapter serves a port, whoever is calling. Composition, which joins the ends, is the exception.",
      severity: "error",
      from: { path: "^src/infrastructure/", pathNot: "^src/infrastructure/composition/" },
      to: { path: "^src/interfaces/" },
    },
    {
      name: "interfaces-do-not-know-adapters",
      comment:
        "Routes and commands are given use cases; which store or lock is behind them is decided elsewhere.",
      severity: "error",
      from: { path: "^src/interfaces/" },
      to: { path: "^src/infrastructure/" },
    },
    {
      name: "composition-is-used-by-main-alone",
      comment: "Whoever can reach the container can reach everything: the program, and whoever embeds it.",
      severity: "error",
      from: { path: "^src/", pathNot: ["^src/(main|index)\\.ts$", "^src/infrastructure/composition/"] },
      to: { path: "^src/infrastructure/composition/" },
    },
    {
      name: "nothing-imports-the-entries",
      comment:
        "Published entries and main are where reading starts; inside, files import each other by name.",
      severity: "error",
      from: { path: "^src/" },
      to: { path: "^src/[^/]+\\.ts$" },
    },
    {
      name: "container-stays-in-composition",
      comment: "No decorator and no container anywhere else: a class is made with new, in tests too.",
      severity: "error",
      from: { path: "^src/", pathNot: "^src/infrastructure/composition/" },
      to: { path: [npm("inversify"), npm("@inversifyjs"), npm("reflect-metadata")] },
    },
    clientStaysIn("@google-cloud/storage", "gcs"),
    clientStaysIn("ioredis", "redis"),
    clientStaysIn("(@types/)?pg", "postgres"),
    clientStaysIn("stripe", "stripe"),
    {
      name: "source-does-not-import-tests",
      comment: "What ships stands on what ships.",
      severity: "error",
      from: { path: "^src/" },
      to: { path: "^(tests|bench|examples|scripts)/" },
    },
    {
      name: "source-does-not-use-dev-dependencies",
      comment: "They are not there after npm install --omit=dev.",
      severity: "error",
      from: { path: "^src/" },
      to: { dependencyTypes: ["npm-dev"], dependencyTypesNot: ["type-only"] },
    },
    {
      name: "source-declares-what-it-imports",
      comment: "A package that is only there because another one brought it may leave with that one.",
      severity: "error",
      from: { path: "^src/" },
      to: { dependencyTypes: ["npm-no-pkg", "npm-unknown"] },
    },
    {
      name: "imports-resolve",
      comment: "An import of something that is not there.",
      severity: "error",
      from: {},
      to: { couldNotResolve: true },
    },
    {
      name: "no-circles",
      comment: "Two files that need each other at run time are one file. Types may refer to each other.",
      severity: "error",
      from: { path: "^src/" },
      to: { circular: true, viaOnly: { dependencyTypesNot: ["type-only"] } },
    },
    {
      name: "no-orphans",
      comment: "A file that nobody imports and that imports nothing is left over.",
      severity: "error",
      from: { orphan: true, path: "^src/", pathNot: ["^src/[^/]+\\.ts$", "\\.d\\.ts$"] },
      to: {},
    },
  ],
  options: {
    // Without this an `import type` across layers goes unseen.
    tsPreCompilationDeps: true,
    tsConfig: { fileName: "tsconfig.json" },
    doNotFollow: { path: "node_modules" },
    enhancedResolveOptions: {
      exportsFields: ["exports"],
      conditionNames: ["import", "require", "node", "default", "types"],
    },
  },
};
