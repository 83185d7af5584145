import { writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { statusOf } from "../src/interfaces/cli/exit-status";
import { problemCodes, problemKind } from "../src/interfaces/http/problems/problem-table";
import { openApiDocument } from "../src/interfaces/http/openapi/openapi-document";
import { settings } from "../src/infrastructure/configuration/settings";
import packageJson from "../package.json";

// npm run surface: prints what users build on, a line each. With --release it becomes the record of this version, in
// docs/released, against which the gate holds whatever comes later.

const load = createRequire(__filename);

interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Schema[];
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
}

interface Operation {
  readonly operationId: string;
  readonly parameters?: readonly {
    readonly name: string;
    readonly in: string;
    readonly required?: boolean;
  }[];
  readonly requestBody?: object;
  readonly responses: Readonly<Record<string, object>>;
}

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
  readonly webhooks?: Readonly<Record<string, object>>;
}

/** Exits of errors that a script may test for. */
const exits = [
  "usage",
  "refused",
  "try_again",
  "bad_configuration",
  "service_unavailable",
  "schema_too_new",
  "lock_timeout",
  "lock_contended",
  "lock_lost",
  "lock_unavailable",
];

/** One line for each thing that may not change without being called breaking. Lines with `requires` may not be added, either. */
export function publicSurface(): string[] {
  const { paths, components, webhooks = {} } = JSON.parse(JSON.stringify(openApiDocument("0"))) as Document;
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, operation]) =>
      ofOperation(method.toUpperCase(), path, operation),
    ),
  );
  const schemas = Object.entries(components.schemas).flatMap(([name, schema]) => ofSchema(name, schema));
  return [
    ...operations,
    ...schemas,
    ...Object.keys(webhooks).map((type) => `webhook ${type}`),
    ...problemCodes.map((code) => `problem ${code} ${problemKind(code).status}`),
    ...Object.values(settings).map(({ flag, environment }) => `setting --${flag} ${environment}`),
    ...exits.map((code) => `exit ${code} ${String(statusOf({ code }))}`),
    ...Object.entries(packageJson.exports).flatMap(([entry, target]) => ofEntry(entry, target)),
  ].sort();
}

/** Its types belong to it, too; those are held by whoever compiles against them. */
function ofEntry(entry: string, target: string | { readonly types: string }): string[] {
  if (typeof target === "string") return [];
  const name = entry.replace(/^\./, "holdfast");
  const source = target.types.replace(/^\.\/dist\/(.*)\.d\.ts$/, "../src/$1");
  const exported = Object.keys(load(source) as object);
  return [`entry ${name}`, ...exported.map((one) => `export ${one} of ${name}`)];
}

function ofOperation(
  method: string,
  path: string,
  { operationId, parameters = [], responses }: Operation,
): string[] {
  return [
    `operation ${operationId}: ${method} ${path}`,
    ...parameters.map(({ name, in: place, required }) =>
      required === true && place !== "path"
        ? `operation ${operationId} requires ${place} ${name}`
        : `operation ${operationId}: ${place} ${name}`,
    ),
    ...Object.keys(responses).map((status) => `operation ${operationId}: status ${status}`),
  ];
}

function ofSchema(at: string, schema: Schema): string[] {
  if (schema.$ref !== undefined) return [`field ${at}: ${schema.$ref.replace(/^.*\//, "")}`];
  const { type, properties = {}, required = [], items, anyOf = [], enum: values = [] } = schema;
  const isRequest = /Request$|^(CaptureItem|CatchUp)$/.test(at.split(".")[0] ?? "");
  return [
    ...(type === undefined ? [] : [`field ${at}: ${[type].flat().join(" | ")}`]),
    ...("const" in schema ? [`field ${at}: is ${JSON.stringify(schema.const)}`] : []),
    ...values.map((value) => `field ${at}: may be ${JSON.stringify(value)}`),
    ...anyOf.flatMap((choice) => ofSchema(at, choice)),
    ...(items === undefined ? [] : ofSchema(`${at}[]`, items)),
    ...(isRequest ? required.map((name) => `field ${at} requires ${name}`) : []),
    ...Object.entries(properties).flatMap(([name, member]) => ofSchema(`${at}.${name}`, member)),
  ];
}

/** What was there and is not any more, and what is newly required of those who were there before. */
export function changedSince(released: readonly string[], now: readonly string[]): string[] {
  const subjects = new Set(released.map(subjectOf));
  const demands = now.filter(
    (line) => line.includes(" requires ") && !released.includes(line) && subjects.has(subjectOf(line)),
  );
  return [...released.filter((line) => !now.includes(line)), ...demands];
}

function subjectOf(line: string): string {
  return line.split(/:| requires /)[0] ?? line;
}

if (require.main === module) {
  const lines = [...new Set(publicSurface())];
  if (process.argv.includes("--release"))
    writeFileSync(
      join(__dirname, "..", "docs", "released", `${packageJson.version}.txt`),
      `${lines.join("\n")}\n`,
    );
  else console.log(lines.join("\n"));
}
