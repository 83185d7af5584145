import type { z } from "zod";
import { RequestError, type InvalidPart } from "../http/problems/request-error";
import { validBody } from "../http/requests/validation";
import { withoutUndefined, type Given } from "../http/requests/without-undefined";

/** What it means to leave a member out, where that is more than nothing: a variable without a value must not say it. */
const WHEN_LEFT_OUT: Readonly<Record<string, string>> = {
  amount: "all of it",
  currency: "the payment's own",
  merchant: "the merchant default",
};

/** As the API checks it. The error's words say what is wrong, since there is no problem document that would. */
export function validInput<Schema extends z.ZodObject>(
  schema: Schema,
  given: unknown,
): Given<z.output<Schema>> {
  const errors = [...withoutValue(schema, given)];
  try {
    const valid = validBody(schema, given);
    if (errors.length === 0) return withoutUndefined(valid);
  } catch (error) {
    if (!(error instanceof RequestError)) throw error;
    errors.push(...(error.facts.errors ?? []));
  }
  const parts = errors.map(({ pointer = "", detail }) => `${pointer.slice(1)} ${detail}`.trim());
  throw new RequestError("invalid_request", parts.join("; "), { errors });
}

/** JSON has no `undefined`, and to a schema it is as good as left out. */
function withoutValue(schema: z.ZodObject, given: unknown): readonly InvalidPart[] {
  if (typeof given !== "object" || given === null) return [];
  const members = given as Readonly<Record<string, unknown>>;
  const shape = schema.shape as Readonly<Record<string, z.ZodType | undefined>>;
  return (
    Object.entries(WHEN_LEFT_OUT)
      .filter(([name]) => name in members && members[name] === undefined)
      // What has to be there, the schema refuses by itself.
      .filter(([name]) => shape[name]?.safeParse(undefined).success === true)
      .map(([name, means]) => ({
        pointer: `/${name}`,
        detail: `is undefined: leave it out for ${means}`,
      }))
  );
}
