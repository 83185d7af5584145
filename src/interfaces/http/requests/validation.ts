import type { z } from "zod";
import { RequestError, type InvalidPart, type RequestErrorCode } from "../problems/request-error";

const MAX_TOLD_PARTS = 20;
const MAX_TOLD_LENGTH = 200;

/** `at`: which part of the body this is. */
export function validBody<Schema extends z.ZodType>(
  schema: Schema,
  body: unknown,
  at: readonly PropertyKey[] = [],
): z.output<Schema> {
  const { success, data, error } = schema.safeParse(body);
  if (success) return data;
  throw invalid("invalid_request", "The body is not valid.", error, (path, detail) => ({
    pointer: jsonPointer([...at, ...path]),
    detail,
  }));
}

export function validQuery<Schema extends z.ZodType>(
  schema: Schema,
  query: Readonly<Record<string, unknown>>,
  codes: Readonly<Record<string, RequestErrorCode>> = {},
): z.output<Schema> {
  const { success, data, error } = schema.safeParse(withNumbers(query));
  if (success) return data;
  const own = error.issues.map(({ path }) => codes[String(path[0])]).find((code) => code !== undefined);
  throw invalid(own ?? "invalid_request", "The query is not valid.", error, (path, detail) => ({
    parameter: shortened(path.map(String).join(".")),
    detail,
  }));
}

/** A query has only strings; the schema, which also makes the documentation, says which of them are numbers. */
function withNumbers(query: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const numbers: Record<string, number> = {};
  for (const name of ["limit", "wait"]) {
    const value = query[name];
    if (typeof value === "string" && /^\d{1,9}$/.test(value)) numbers[name] = Number(value);
  }
  return { ...query, ...numbers };
}

function invalid(
  code: RequestErrorCode,
  message: string,
  error: z.ZodError,
  part: (path: readonly PropertyKey[], detail: string) => InvalidPart,
): RequestError {
  const errors = error.issues.flatMap((issue) =>
    issue.code === "unrecognized_keys"
      ? issue.keys.map((key) => part([...issue.path, key], "is not recognized"))
      : [part(issue.path, shortened(issue.message))],
  );
  return new RequestError(code, message, { errors: errors.slice(0, MAX_TOLD_PARTS) });
}

function jsonPointer(path: readonly PropertyKey[]): string {
  return shortened(
    path.map((part) => `/${String(part).replaceAll("~", "~0").replaceAll("/", "~1")}`).join(""),
  );
}

function shortened(text: string): string {
  return text.length <= MAX_TOLD_LENGTH ? text : `${text.slice(0, MAX_TOLD_LENGTH)}…`;
}
