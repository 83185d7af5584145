import type { z } from "zod";
import { RequestError, type InvalidPart } from "../problems/request-error";

const MAX_TOLD_PARTS = 20;
const MAX_TOLD_LENGTH = 200;

export function validBody<Schema extends z.ZodType>(schema: Schema, body: unknown): z.output<Schema> {
  const { success, data, error } = schema.safeParse(body);
  if (success) return data;
  throw invalid("The body is not valid.", error, (path, detail) => ({ pointer: jsonPointer(path), detail }));
}

export function validQuery<Schema extends z.ZodType>(
  schema: Schema,
  query: Readonly<Record<string, unknown>>,
): z.output<Schema> {
  const { success, data, error } = schema.safeParse(withNumbers(query));
  if (success) return data;
  throw invalid("The query is not valid.", error, (path, detail) => ({
    parameter: shortened(path.map(String).join(".")),
    detail,
  }));
}

/** A query has only strings; the schema, which also makes the documentation, says which of them are numbers. */
function withNumbers(query: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const { limit } = query;
  return typeof limit === "string" && /^\d{1,9}$/.test(limit) ? { ...query, limit: Number(limit) } : query;
}

function invalid(
  message: string,
  error: z.ZodError,
  part: (path: readonly PropertyKey[], detail: string) => InvalidPart,
): RequestError {
  const errors = error.issues.flatMap((issue) =>
    issue.code === "unrecognized_keys"
      ? issue.keys.map((key) => part([...issue.path, key], "is not known here"))
      : [part(issue.path, shortened(issue.message))],
  );
  return new RequestError("invalid_request", message, { errors: errors.slice(0, MAX_TOLD_PARTS) });
}

function jsonPointer(path: readonly PropertyKey[]): string {
  return shortened(
    path.map((part) => `/${String(part).replaceAll("~", "~0").replaceAll("/", "~1")}`).join(""),
  );
}

function shortened(text: string): string {
  return text.length <= MAX_TOLD_LENGTH ? text : `${text.slice(0, MAX_TOLD_LENGTH)}…`;
}
