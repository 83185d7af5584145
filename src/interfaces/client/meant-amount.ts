/** JSON leaves out what is `undefined`, and what is left out means all of it: a variable without a value must not say so. */
export function assertMeant(body: object): void {
  for (const [name, means] of [
    ["amount", "all of it"],
    ["currency", "the payment's own"],
  ] as const)
    if (name in body && (body as Readonly<Record<string, unknown>>)[name] === undefined)
      throw new TypeError(`${name} is undefined: leave it out for ${means}`);
}
