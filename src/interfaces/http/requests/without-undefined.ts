export type Given<T> = { [K in keyof T]: Exclude<T[K], undefined> };

/** Left out and `undefined` are the same to a schema, and different things to a type. */
export function withoutUndefined<T extends object>(value: T): Given<T> {
  return Object.fromEntries(Object.entries(value).filter(([, member]) => member !== undefined)) as Given<T>;
}
