import type { z } from "zod";
import { RequestError } from "../http/problems/request-error";
import { validBody } from "../http/requests/validation";
import { withoutUndefined, type Given } from "../http/requests/without-undefined";

/** As the API checks it. The error's words say what is wrong, since there is no problem document that would. */
export function validInput<Schema extends z.ZodType<object>>(
  schema: Schema,
  given: unknown,
): Given<z.output<Schema>> {
  try {
    return withoutUndefined(validBody(schema, given));
  } catch (error) {
    if (!(error instanceof RequestError)) throw error;
    const parts = error.facts.errors?.map(({ pointer = "", detail }) =>
      `${pointer.slice(1)} ${detail}`.trim(),
    );
    throw new RequestError(error.code, parts?.join("; ") ?? error.message, error.facts);
  }
}
