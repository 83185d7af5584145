import type { z } from "zod";
import { RequestError } from "../http/problems/request-error";
import type { Given } from "../http/requests/without-undefined";
import { validInput } from "./valid-input";

/** What says which payment and which movement is meant. Checked by those who know its form. */
type Name = "paymentId" | "idempotencyKey";

/**
 * The one way in for what a use case is given: its names, and a body as the schema says. All else in it is refused, because
 * whoever wrote it meant something by it.
 */
export function requestFor<Schema extends z.ZodObject, Own extends Name>(
  given: object & { readonly [N in Own]: string },
  schema: Schema,
  names: readonly Own[],
): Given<z.output<Schema>> & { readonly [N in Own]: string } {
  if (typeof given !== "object" || (given as unknown) === null || Array.isArray(given))
    throw new RequestError("invalid_request", "the request must be an object");
  const all = given as Readonly<Record<string, unknown>>;
  const body: Record<string, unknown> = { ...all };
  // An object of a class has members that no spread shows.
  for (const member of Object.keys(schema.shape)) if (member in all) body[member] = all[member];
  for (const name of names) delete body[name];
  const named = Object.fromEntries(names.map((name) => [name, all[name]])) as { [N in Own]: string };
  return { ...validInput(schema, body), ...named };
}
