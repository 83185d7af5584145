import type { OperationFailureCode } from "../../../domain/payment/errors";
import { problemAnswer } from "../problems/problem-answer";
import { problemKind, type ProblemCode } from "../problems/problem-table";
import { documentedEndpoints } from "../endpoints/documented-endpoints";
import { REASON_HEADER } from "../requests/audit/act-behind";
import type { Answer, DocumentedEndpoint, HeaderName } from "../endpoints/endpoint";
import {
  componentSchemas,
  jsonSchemaOf,
  nameOf,
  schemaReference,
  type JsonSchema,
} from "./component-schemas";
import { documentedWebhooks } from "./document-webhooks";
import { examples, type DocumentedExample } from "./examples";

const DESCRIPTION = `Captures each payment exactly once: every repetition of a request with the same
\`Idempotency-Key\` gets the same answer. Amounts are integers in the currency's ISO 4217 minor unit
(2 digits for EUR and HUF, none for JPY, 3 for KWD); \`currencyExponent\` gives the number of digits with each payment.
Times are UTC.
A 202 means that the outcome is not known yet: repeat the request with the same key.`;

const headers: Record<HeaderName | "X-Request-Id", JsonSchema> = {
  "X-Request-Id": {
    description: "Identifies the request in the server's log. A valid client-supplied id is kept.",
    schema: { type: "string" },
  },
  Location: { description: "The path of the created resource.", schema: { type: "string" } },
  "Retry-After": {
    description: "Seconds to wait before repeating the request.",
    schema: { type: "integer" },
  },
  "WWW-Authenticate": { description: "How to authenticate.", schema: { type: "string" } },
  Allow: { description: "The methods that the route supports.", schema: { type: "string" } },
  "Idempotency-Replayed": {
    description: "`true` if the answer was stored before this request arrived.",
    schema: { type: "string", enum: ["true"] },
  },
};

const tags = [
  { name: "Payments", description: "Authorize, capture, void and refund; each movement exactly once." },
  { name: "Events", description: "A feed of what happened to payments, to be read from a cursor." },
  { name: "Webhooks", description: "Endpoints of merchants, and what was delivered to them." },
  {
    name: "Reviews",
    description: "For operators: outcomes that a person has to decide, and what the gateway shows.",
  },
  { name: "Audit", description: "For operators: who did what, when, from where and why." },
  { name: "Sandboxes", description: "Worlds of payments for tests, with a clock that can be moved." },
  { name: "Gateway events", description: "What payment gateways send, and their own lists of it." },
  {
    name: "Simulated gateway",
    description: "The page on which a customer of the simulated gateway decides.",
  },
  { name: "Service", description: "Health, metrics, locks, and this document." },
];

/** Refusals that belong to a key for ever, so that a repetition gets them again. */
const storedRefusals: Record<OperationFailureCode, true> = {
  authorization_declined: true,
  capture_declined: true,
  void_declined: true,
  refund_declined: true,
  payment_expired: true,
  payment_voided: true,
};

const documentedExamples: readonly DocumentedExample[] = examples;
/**
 * OpenAPI 3.1, from the schemas that validate, the table of problems, and the endpoints as they describe themselves. To be
 * read as JSON, where members that are undefined do not appear.
 */
export function openApiDocument(version: string, mountedAt = ""): object {
  const schemas = componentSchemas();
  const paths: Record<string, Record<string, object>> = {};
  for (const endpoint of documentedEndpoints) {
    const path = endpoint.path.replace(/:(\w+)/g, "{$1}");
    (paths[path] ??= {})[endpoint.method] = operation(endpoint, schemas);
  }
  return {
    openapi: "3.1.1",
    info: {
      title: "Holdfast",
      version,
      description: DESCRIPTION,
      license: { name: "MIT", identifier: "MIT" },
    },
    servers: [{ url: mountedAt || "/" }],
    tags,
    paths,
    webhooks: documentedWebhooks(),
    components: {
      schemas,
      headers,
      securitySchemes: {
        apiKey: {
          type: "http",
          scheme: "bearer",
          description:
            "`holdfast keys create` creates a key. Until the first one exists, requests from this machine need none.",
        },
      },
    },
  };
}

function operation(endpoint: DocumentedEndpoint, schemas: Readonly<Record<string, JsonSchema>>): object {
  const { operationId, tag, summary, description, access, body = endpoint.unreadBody } = endpoint;
  const parameters = parametersOf(endpoint);
  const shown = documentedExamples.filter((example) => example.operationId === operationId);
  return {
    operationId,
    tags: [tag],
    summary,
    description,
    security: access === "open" ? [] : [{ apiKey: [] }],
    parameters: parameters.length === 0 ? undefined : parameters,
    requestBody: body && {
      required: isNeeded(schemas[nameOf(body)]),
      content: {
        [endpoint.unreadBodyType ?? "application/json"]: {
          schema: schemaReference(body),
          examples: exampleObjects(shown, ({ body: value }) => value),
        },
      },
    },
    responses: Object.fromEntries([
      ...Object.entries(endpoint.answers).map(
        ([status, answer]) => [Number(status), responseOf(Number(status), answer, shown)] as const,
      ),
      ...problemResponses(endpoint, shown),
    ]),
  };
}

/** What needs no member may be left out as a whole. */
function isNeeded(schema: JsonSchema | undefined): boolean {
  return schema?.["required"] !== undefined || schema?.["anyOf"] !== undefined;
}

function parametersOf(endpoint: DocumentedEndpoint): object[] {
  const { path, query, movesMoney, waitsForLocks = movesMoney, requiredHeaders, audited } = endpoint;
  const inPath = [...path.matchAll(/:(\w+)/g)].map(([, name]) => ({
    name,
    in: "path",
    required: true,
    schema: name === "gatewayAccount" ? { type: "string" } : { type: "string", format: "uuid" },
  }));
  const { properties = {} } = query === undefined ? {} : jsonSchemaOf(query);
  const inQuery = Object.entries(properties).map(([name, { description, ...schema }]) => ({
    name,
    in: "query",
    description,
    schema,
  }));
  const key = {
    name: "Idempotency-Key",
    in: "header",
    required: true,
    description:
      '1 to 255 visible ASCII characters, bare or as an RFC 8941 string: `k` and `"k"` are one key.',
    schema: { type: "string", minLength: 1 },
  };
  const prefer = {
    name: "Prefer",
    in: "header",
    description:
      "`wait=<seconds>`: the longest time to wait for the payment's lock. It can only shorten the wait.",
    schema: { type: "string" },
  };
  const reason = {
    name: REASON_HEADER,
    in: "header",
    description:
      "Why this is done, in your own words: up to 2000 characters, percent-encoded where they are not ASCII. It is kept in " +
      "the audit.",
    schema: { type: "string" },
  };
  const ofItsOwn = Object.entries(requiredHeaders ?? {}).map(([name, description]) => ({
    name,
    in: "header",
    required: true,
    description,
    schema: { type: "string" },
  }));
  return [
    ...inPath,
    ...inQuery,
    ...ofItsOwn,
    ...(movesMoney === true ? [key] : []),
    ...(waitsForLocks === true ? [prefer] : []),
    ...(audited === true ? [reason] : []),
  ];
}

function responseOf(status: number, answer: Answer, shown: readonly DocumentedExample[]): object {
  const { description, schema, contentType = "application/json" } = answer;
  const content = { schema: schema && schemaReference(schema), ...examplesAt(status, shown) };
  return {
    description,
    headers: headerReferences(answer.headers ?? []),
    content: {
      [contentType]: content,
      ...Object.fromEntries((answer.alsoAs ?? []).map((type) => [type, {}])),
    },
  };
}

/** One response for each status, with the codes that it may carry. */
function problemResponses(
  endpoint: DocumentedEndpoint,
  shown: readonly DocumentedExample[],
): (readonly [number, object])[] {
  const codes = [...new Set([...endpoint.problems, ...problemsOfAny(endpoint)])];
  const statuses = [...new Set(codes.map((code) => problemKind(code).status))].sort((a, b) => a - b);
  return statuses.map((status) => {
    const here = codes.filter((code) => problemKind(code).status === status);
    const names: readonly (HeaderName | false)[] = [
      here.some((code) => problemKind(code).retryAfterSeconds !== undefined) && "Retry-After",
      endpoint.movesMoney === true && here.some((code) => code in storedRefusals) && "Idempotency-Replayed",
      status === 401 && "WWW-Authenticate",
      status === 405 && "Allow",
    ];
    const schema = {
      allOf: [schemaReference(problemAnswer), { properties: { code: { enum: here } } }],
    };
    const response = {
      description: here.map((code) => `\`${code}\``).join(", "),
      headers: headerReferences(names.filter((name) => name !== false)),
      content: {
        "application/problem+json": { schema, ...examplesAt(status, shown) },
        ...(endpoint.problemPage !== undefined && status !== 405 && { "text/html": {} }),
      },
    };
    return [status, response] as const;
  });
}

function problemsOfAny({ access, body, path, audited }: DocumentedEndpoint): readonly ProblemCode[] {
  return [
    ...(access === "open" ? [] : (["unauthorized", "service_unavailable"] as const)),
    ...(access === "operator" ? (["operator_key_required"] as const) : []),
    ...(path.includes(":") ? (["malformed_request"] as const) : []),
    ...(audited === true ? (["invalid_request"] as const) : []),
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
