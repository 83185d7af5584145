import Ajv2020, { type ValidateFunction } from "ajv/dist/2020";
import { openApiDocument } from "../../src/interfaces/http/openapi/openapi-document";

interface Content {
  readonly schema?: object;
  readonly examples?: Record<string, { readonly summary: string; readonly value: unknown }>;
}

export interface OpenApiOperation {
  readonly operationId: string;
  readonly security?: readonly Record<string, unknown>[];
  readonly parameters?: readonly { readonly name: string; readonly in: string; readonly schema: object }[];
  readonly requestBody?: { readonly required: boolean; readonly content: Record<string, Content> };
  readonly responses: Record<
    string,
    { readonly description: string; readonly headers: object; readonly content: Record<string, Content> }
  >;
}

export interface OpenApiDocument {
  readonly openapi: string;
  readonly info: { readonly title: string; readonly version: string };
  readonly paths: Record<string, Record<string, OpenApiOperation>>;
  readonly components: {
    readonly schemas: Record<string, object>;
    readonly headers: Record<string, object>;
    readonly securitySchemes: Record<string, object>;
  };
}

/** As it goes over the wire. */
export const document = JSON.parse(JSON.stringify(openApiDocument("0.0.0"))) as OpenApiDocument;

const ajv = new Ajv2020({
  allErrors: true,
  strict: true,
  // A problem's codes are named beside the schema they belong to.
  strictTypes: false,
  allowUnionTypes: true,
  formats: {
    uuid: /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/,
    "date-time": /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$/,
  },
});
// JSON Schema keeps the schemas it refers to elsewhere than OpenAPI does.
const PLACE = "#/components/schemas/";
ajv.addSchema({
  $id: "document",
  $defs: JSON.parse(JSON.stringify(document.components.schemas).replaceAll(PLACE, "#/$defs/")) as object,
});

const compiled = new Map<string, ValidateFunction>();

/** What is wrong with the value, by the schema as the document has it; empty if nothing is. */
export function violations(schema: object, value: unknown): string[] {
  const text = JSON.stringify(schema).replaceAll(PLACE, "document#/$defs/");
  const validate = compiled.get(text) ?? ajv.compile(JSON.parse(text) as object);
  compiled.set(text, validate);
  if (validate(value)) return [];
  return (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`);
}

/** How an answer differs from what the document says about that route and status. Null for what is no route of it. */
export function undocumented(
  method: string,
  path: string,
  answer: { readonly status: number; readonly headers: Headers; readonly body: unknown },
): string[] | null {
  const [pathname = ""] = path.split("?");
  const template = Object.keys(document.paths).find((candidate) =>
    new RegExp(`^${candidate.replace(/\{\w+\}/g, "[^/]+")}$`).test(pathname),
  );
  const operation = template === undefined ? undefined : document.paths[template]?.[method.toLowerCase()];
  if (operation === undefined) return null;
  const response = operation.responses[answer.status];
  if (response === undefined) return [`${operation.operationId} answered ${answer.status}`];
  const type = answer.headers.get("content-type")?.split(";")[0] ?? "none";
  const content = response.content[type];
  if (content === undefined) return [`${operation.operationId} answered ${answer.status} as ${type}`];
  const missing = ["location", "retry-after", "idempotency-replayed", "www-authenticate", "allow"].filter(
    (name) =>
      answer.headers.has(name) &&
      !Object.keys(response.headers).some((documented) => documented.toLowerCase() === name),
  );
  return [
    ...missing.map((name) => `${operation.operationId} ${answer.status} does not mention ${name}`),
    ...(content.schema === undefined ? [] : violations(content.schema, answer.body)),
  ];
}
