import { z } from "zod";

/** The schemas that the published document names, by the side that they are sent from. */
export const requestNames = z.registry<{ id: string }>();
export const answerNames = z.registry<{ id: string }>();

/** A schema that validates requests, under its name in the document, where it is as it comes over the wire. */
export function requestSchema<Schema extends z.ZodType>(id: string, schema: Schema): Schema {
  requestNames.add(schema, { id });
  return schema;
}

/** A schema of answers, under its name in the document. */
export function answerSchema<Schema extends z.ZodType>(id: string, schema: Schema): Schema {
  answerNames.add(schema, { id });
  return schema;
}
