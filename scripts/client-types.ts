import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { format, resolveConfig } from "prettier";
import { openApiDocument } from "../src/interfaces/http/openapi/openapi-document";

// npm run client:types: writes the types of `holdfast/client` from the OpenAPI document. A test holds them to it.

interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: Schema | boolean;
}

interface Parameter {
  readonly name: string;
  readonly in: "path" | "query" | "header";
  readonly required?: boolean;
  readonly description?: string;
  readonly schema: Schema;
}

interface Content {
  readonly content?: Readonly<Record<string, { readonly schema?: Schema }>>;
}

interface Operation {
  readonly operationId: string;
  readonly summary: string;
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: Content & { readonly required?: boolean };
  readonly responses: Readonly<Record<string, Content>>;
}

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

const WRITTEN = "// Written by `npm run client:types` from the OpenAPI document.\n\n";

/** Not for programs: pages for people, the service itself, what gateways send, and the sandboxes' copies of routes. */
const isForPrograms = ({ operationId }: Operation): boolean =>
  !/InSandbox$|^(receive|is[A-Z]|show(Document|Docs|Metrics|CustomerPage)|actAsCustomer)/.test(operationId);

/** The files of the client's types, by name. */
export async function clientTypes(): Promise<Record<string, string>> {
  const { paths, components } = JSON.parse(JSON.stringify(openApiDocument("0"))) as Document;
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
  );
  const offered = operations.filter(({ operation }) => isForPrograms(operation));
  const used = reachable(JSON.stringify(offered), components.schemas);
  const interfaceOf = offered.map(({ operation }) => typeOf(operation)).join("\n");
  const namesUsed = [...used].filter((name) => new RegExp(`\\b${name}\\b`).test(interfaceOf)).sort();
  const files = {
    "schemas.ts": `${WRITTEN}${[...used]
      .sort()
      .map((name) => declared(name, components.schemas[name]!))
      .join("\n\n")}\n`,
    "operations.ts": [
      WRITTEN,
      `import type { ${namesUsed.join(", ")} } from "./schemas";\n\n`,
      "/** Of each operation what is sent with it and what a success is answered with. */\n",
      `export interface Operations {\n${interfaceOf}\n}\n\n`,
      "/** Where each operation is. */\n",
      `export const routes: { readonly [Id in keyof Operations]: readonly [method: string, path: string] } = {\n${offered
        .map(
          ({ operation, method, path }) =>
            `${operation.operationId}: ["${method.toUpperCase()}", ${JSON.stringify(path)}],`,
        )
        .join("\n")}\n};\n`,
    ].join(""),
  };
  const style = await resolveConfig(join(__dirname, "..", "package.json"));
  const formatted = Object.entries(files).map(
    async ([name, text]) => [name, await format(text, { ...style, parser: "typescript" })] as const,
  );
  return Object.fromEntries(await Promise.all(formatted));
}

function namesIn(text: string): Set<string> {
  return new Set([...text.matchAll(/#\/components\/schemas\/(\w+)/g)].map(([, name]) => name!));
}

function reachable(text: string, schemas: Readonly<Record<string, Schema>>): Set<string> {
  const found = new Set<string>();
  const look = (within: string): void => {
    for (const name of namesIn(within))
      if (!found.has(name)) {
        found.add(name);
        look(JSON.stringify(schemas[name]));
      }
  };
  look(text);
  return found;
}

function declared(name: string, schema: Schema): string {
  const text = typeScript(schema);
  return Object.keys(schema.properties ?? {}).length === 0
    ? `${comment(schema)}export type ${name} = ${text};`
    : `${comment(schema)}export interface ${name} ${text}`;
}

function typeOf({ operationId, summary, parameters = [], requestBody, responses }: Operation): string {
  const success = Object.entries(responses).filter(([status]) => status.startsWith("2"));
  const answers = new Set(success.map(([, answer]) => contentOf(answer)));
  const members = [
    record(
      "path",
      parameters.filter((parameter) => parameter.in === "path"),
    ),
    record(
      "query",
      parameters.filter((parameter) => parameter.in === "query"),
    ),
    requestBody && `readonly body${requestBody.required === true ? "" : "?"}: ${contentOf(requestBody)};`,
    `readonly answer: ${[...answers].join(" | ")};`,
  ];
  return `/** ${summary} */\nreadonly ${operationId}: {${members.filter(Boolean).join("\n")}};`;
}

function record(name: string, parameters: readonly Parameter[]): string {
  if (parameters.length === 0) return "";
  const isNeeded = parameters.some(({ required }) => required === true);
  const members = parameters.map(
    ({ name: parameter, required, description, schema }) =>
      `${comment({ ...schema, ...(description !== undefined && { description }) })}readonly ${parameter}${required === true ? ":" : "?: undefined |"} ${typeScript(schema)};`,
  );
  return `readonly ${name}${isNeeded ? "" : "?"}: {${members.join("\n")}};`;
}

function contentOf({ content = {} }: Content): string {
  const schema = Object.values(content)[0]?.schema;
  return schema === undefined ? "undefined" : typeScript(schema);
}

function typeScript(schema: Schema): string {
  if (schema.$ref !== undefined) return schema.$ref.replace(/^.*\//, "");
  if ("const" in schema) return JSON.stringify(schema.const);
  if (schema.enum !== undefined) return schema.enum.map((value) => JSON.stringify(value)).join(" | ");
  const choices = schema.anyOf ?? schema.oneOf;
  if (choices !== undefined) return choices.map((choice) => bracketed(typeScript(choice))).join(" | ");
  if (schema.allOf !== undefined) return schema.allOf.map((part) => bracketed(typeScript(part))).join(" & ");
  if (Array.isArray(schema.type))
    return schema.type.map((type: string) => typeScript({ ...schema, type })).join(" | ");
  switch (schema.type) {
    case "string":
      return "string";
    case "integer":
    case "number":
      return "number";
    case "boolean":
      return "boolean";
    case "null":
      return "null";
    case "array":
      return `readonly ${bracketed(typeScript(schema.items ?? {}))}[]`;
    case "object":
      return objectType(schema);
    default:
      return "unknown";
  }
}

function objectType({ properties = {}, required = [], additionalProperties }: Schema): string {
  const members = Object.entries(properties).map(
    ([name, schema]) =>
      `${comment(schema)}readonly ${JSON.stringify(name)}${required.includes(name) ? ":" : "?: undefined |"} ${typeScript(schema)};`,
  );
  if (members.length > 0) return `{\n${members.join("\n")}\n}`;
  const others =
    typeof additionalProperties === "object"
      ? typeScript(additionalProperties)
      : additionalProperties === false
        ? "never"
        : "unknown";
  return `Readonly<Record<string, ${others}>>`;
}

function bracketed(text: string): string {
  return /[|&]|^readonly /.test(text) ? `(${text})` : text;
}

function comment({ description }: Schema): string {
  return description === undefined ? "" : `/** ${description.replaceAll("*/", "* /")} */\n`;
}

async function write(): Promise<void> {
  const folder = join(__dirname, "..", "src", "interfaces", "client", "generated");
  for (const [name, text] of Object.entries(await clientTypes())) writeFileSync(join(folder, name), text);
}

if (require.main === module) void write();
