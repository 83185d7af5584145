import type { ServiceIdentifier } from "inversify";

/** The token of each part. One that is missing, or of another type, does not compile. */
export type TokensByName<Parts extends object> = {
  readonly [Name in keyof Parts]-?: ServiceIdentifier<Parts[Name]>;
};

/** A function of named parts as `toResolvedValue` takes it: a function of a list, and the tokens of that list. */
export function assembles<Parts extends object, Made>(
  make: (parts: Parts) => Made,
  tokens: TokensByName<Parts>,
): [factory: (...values: unknown[]) => Made, tokens: ServiceIdentifier[]] {
  const names = Object.keys(tokens);
  const factory = (...values: unknown[]) =>
    make(Object.fromEntries(values.map((value, index) => [names[index], value])) as Parts);
  return [factory, Object.values(tokens)];
}
