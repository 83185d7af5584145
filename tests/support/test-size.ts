/** `npm run test:all` goes through everything; `npm test` through as much as still finds each planted mistake. */
const isFull = process.env["HOLDFAST_TEST_SIZE"] === "full";

export function size<T>(full: T, brief: T): T {
  return isFull ? full : brief;
}

/** All of them, or, in brief, each `nth`: always the same ones, for `shift` one further on. */
export function sample<T>(all: readonly T[], nth: number, shift = 0): readonly T[] {
  return isFull ? all : all.filter((_, index) => (index + shift) % nth === 0);
}
