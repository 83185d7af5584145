import { z } from "zod";
import { answerNames, requestNames } from "./schema-names";

export interface JsonSchema {
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly description?: string;
  readonly [keyword: string]: unknown;
}

type Names = typeof requestNames;

/** Every schema that has a name, which all that endpoints take and answer with have. */
export function componentSchemas(): Record<string, JsonSchema> {
  return { ...jsonSchemas(requestNames, "input"), ...jsonSchemas(answerNames, "output") };
}

/** One schema on its own, such as a query's. */
export function jsonSchemaOf(schema: z.ZodType): JsonSchema {
  return withoutEnvelope(z.toJSONSchema(schema, { io: "input", override: readable }));
}

export function nameOf(schema: z.ZodType): string {
  const { id } = requestNames.get(schema) ?? answerNames.get(schema) ?? {};
  if (id === undefined) throw new Error("this schema has no name: make it by requestSchema or answerSchema");
  return id;
}

export function schemaReference(schema: z.ZodType): JsonSchema {
  return { $ref: `#/components/schemas/${nameOf(schema)}` };
}

function jsonSchemas(names: Names, io: "input" | "output"): Record<string, JsonSchema> {
  const made = z.toJSONSchema(names, {
    io,
    uri: (id) => `#/components/schemas/${id}`,
    override: readable,
  });
  return Object.fromEntries(
    Object.entries(made.schemas).map(([id, schema]) => [id, withoutEnvelope(schema)]),
  );
}

/** A format says what its pattern spells out in two hundred characters. */
function readable({ jsonSchema }: { jsonSchema: { format?: unknown; pattern?: unknown } }): void {
  if (jsonSchema.format !== undefined) delete jsonSchema.pattern;
}

function withoutEnvelope(schema: object): JsonSchema {
  const { $schema, $id, ...rest } = schema as JsonSchema;
  return rest;
}
