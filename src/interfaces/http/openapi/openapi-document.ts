import type { OperationFailureCode } from "../../../domain/payment-errors";
import { problemKind, type ProblemCode } from "../problems/problem-table";
import { componentSchemas, jsonSchemaOf, schemaReference, type JsonSchema } from "./component-schemas";
import type { DocumentedAnswer, DocumentedExample, DocumentedRoute, HeaderName } from "./documented-route";
import { examples } from "./examples";
import { paymentRoutes } from "./payment-routes";
import { reviewRoutes } from "./review-routes";
import { sandboxRoutes } from "./sandbox-routes";
import { serviceRoutes } from "./service-routes";

const DESCRIPTION = `Captures each payment exactly once: whoever repeats a request, and however often, with the same
\`Idempotency-Key\` gets the same answer. Amounts are integers in the currency's minor unit
as ISO 4217 has it (2 digits for EUR and HUF, none for JPY, 3 for KWD); \`currencyExponent\` says it with each payment.
Times are UTC.
A 202 says that nobody knows the outcome yet: ask again with the same key.`;

const headers: Record<HeaderName | "X-Request-Id", JsonSchema> = {
  "X-Request-Id": {
    description: "Under which the request is found in the log. A harmless one that was sent is kept.",
    schema: { type: "string" },
  },
  Location: { description: "Where what was made is found.", schema: { type: "string" } },
  "Retry-After": { description: "Seconds.", schema: { type: "integer" } },
  "WWW-Authenticate": { description: "How to say who one is.", schema: { type: "string" } },
  Allow: { description: "What the route knows instead.", schema: { type: "string" } },
  "Idempotency-Replayed": {
    description: "`true` where the answer was stored before this request came.",
    schema: { type: "string", enum: ["true"] },
  },
};

/** Refusals that belong to a key for ever, so that a repetition gets them again. */
const storedRefusals: Record<OperationFailureCode, true> = {
  authorization_declined: true,
  capture_declined: true,
  void_declined: true,
  refund_declined: true,
  payment_expired: true,
};

const documentedExamples: readonly DocumentedExample[] = examples;
export const documentedRoutes: readonly DocumentedRoute[] = [
  ...paymentRoutes,
  ...reviewRoutes,
  ...sandboxRoutes,
  ...serviceRoutes,
];

/** OpenAPI 3.1, from the schemas that validate, the table of problems, and the routes as they are described. */
export function openApiDocument(version: string): object {
  const schemas = componentSchemas();
  const paths: Record<string, Record<string, object>> = {};
  for (const route of documentedRoutes) {
    (paths[route.path] ??= {})[route.method] = operation(route, schemas);
  }
  return {
    openapi: "3.1.1",
    info: {
      title: "Holdfast",
      version,
      description: DESCRIPTION,
      license: { name: "MIT", identifier: "MIT" },
    },
    servers: [{ url: "/" }],
    tags: [
      { name: "Payments" },
      { name: "Reviews" },
      { name: "Sandboxes" },
      { name: "Simulated gateway" },
      { name: "Service" },
    ],
    paths,
    components: {
      schemas,
      headers,
      securitySchemes: {
        apiKey: {
          type: "http",
          scheme: "bearer",
          description:
            "`holdfast keys create` makes one. Until there is a first one, none is needed on this machine.",
        },
      },
    },
  };
}

function operation(route: DocumentedRoute, schemas: Readonly<Record<string, JsonSchema>>): object {
  const { operationId, tag, summary, description, access, body } = route;
  const parameters = parametersOf(route);
  const shown = documentedExamples.filter((example) => example.operationId === operationId);
  return {
    operationId,
    tags: [tag],
    summary,
    ...(description === undefined ? {} : { description }),
    ...(access === "open" ? {} : { security: [{ apiKey: [] }] }),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(body === undefined
      ? {}
      : {
          requestBody: {
            // What needs no member may be left out as a whole.
            required: schemas[body]?.["required"] !== undefined || schemas[body]?.["anyOf"] !== undefined,
            content: {
              "application/json": {
                schema: schemaReference(body),
                examples: exampleObjects(shown, ({ body: value }) => value),
              },
            },
          },
        }),
    responses: Object.fromEntries([
      ...route.answers.map((answer) => [answer.status, responseOf(answer, shown)] as const),
      ...problemResponses(route, shown),
    ]),
  };
}

function parametersOf({ path, query, movesMoney }: DocumentedRoute): object[] {
  const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({
    name,
    in: "path",
    required: true,
    schema: { type: "string", format: "uuid" },
  }));
  const { properties = {} } = query === undefined ? {} : jsonSchemaOf(query);
  const inQuery = Object.entries(properties).map(([name, { description, ...schema }]) => ({
    name,
    in: "query",
    ...(description === undefined ? {} : { description }),
    schema,
  }));
  const inHeaders = [
    {
      name: "Idempotency-Key",
      in: "header",
      required: true,
      description:
        '1 to 255 visible ASCII characters, bare or as an RFC 8941 string: `k` and `"k"` are one key.',
      schema: { type: "string", minLength: 1 },
    },
    {
      name: "Prefer",
      in: "header",
      description:
        "`wait=<seconds>`: how long to wait for the payment's lock at most. It only shortens the wait.",
      schema: { type: "string" },
    },
  ];
  return [...inPath, ...inQuery, ...(movesMoney === true ? inHeaders : [])];
}

function responseOf(answer: DocumentedAnswer, shown: readonly DocumentedExample[]): object {
  const { status, description, schema, contentType = "application/json" } = answer;
  const content = {
    ...(schema === undefined ? {} : { schema: schemaReference(schema) }),
    ...examplesAt(status, shown),
  };
  return {
    description,
    headers: headerReferences(answer.headers ?? []),
    content: { [contentType]: content },
  };
}

/** One response for each status, with the codes that it may carry. */
function problemResponses(
  route: DocumentedRoute,
  shown: readonly DocumentedExample[],
): (readonly [number, object])[] {
  const codes = [...new Set([...route.problems, ...problemsOfAny(route)])];
  const statuses = [...new Set(codes.map((code) => problemKind(code).status))].sort((a, b) => a - b);
  return statuses.map((status) => {
    const here = codes.filter((code) => problemKind(code).status === status);
    const names: readonly (HeaderName | false)[] = [
      here.some((code) => problemKind(code).retryAfterSeconds !== undefined) && "Retry-After",
      route.movesMoney === true && here.some((code) => code in storedRefusals) && "Idempotency-Replayed",
      status === 401 && "WWW-Authenticate",
      status === 405 && "Allow",
    ];
    const schema = {
      allOf: [schemaReference("Problem"), { properties: { code: { enum: here } } }],
    };
    const response = {
      description: here.map((code) => `\`${code}\``).join(", "),
      headers: headerReferences(names.filter((name) => name !== false)),
      content: { "application/problem+json": { schema, ...examplesAt(status, shown) } },
    };
    return [status, response] as const;
  });
}

function problemsOfAny({ access, body, path }: DocumentedRoute): readonly ProblemCode[] {
  return [
    ...(access === "open" ? [] : (["unauthorized", "service_unavailable"] as const)),
    ...(access === "operator" ? (["operator_key_required"] as const) : []),
    ...(path.includes("{") ? (["malformed_request"] as const) : []),
    ...(body === undefined
      ? []
      : (["malformed_json", "unsupported_media_type", "body_too_large", "invalid_request"] as const)),
    "method_not_allowed",
    "internal_error",
  ];
}

function headerReferences(names: readonly HeaderName[]): object {
  return Object.fromEntries(
    (["X-Request-Id", ...names] as const).map((name) => [name, { $ref: `#/components/headers/${name}` }]),
  );
}

function examplesAt(status: number, shown: readonly DocumentedExample[]): object {
  const here = shown.filter((example) => example.status === status);
  return here.length === 0 ? {} : { examples: exampleObjects(here, ({ answer }) => answer) };
}

function exampleObjects(
  shown: readonly DocumentedExample[],
  value: (example: DocumentedExample) => object | undefined,
): object {
  return Object.fromEntries(
    shown.map((example) => [example.name, { summary: example.summary, value: value(example) }]),
  );
}
