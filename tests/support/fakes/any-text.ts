import fc from "fast-check";

const FIRST_HALF_OF_A_PAIR = 0xd800;
const HALVES_OF_PAIRS = 0x800;
const codePoint = fc
  .integer({ min: 0, max: 0x10ffff - HALVES_OF_PAIRS })
  .map((n) => (n < FIRST_HALF_OF_A_PAIR ? n : n + HALVES_OF_PAIRS));

/**
 * Texts of any characters at all, and the words that fast-check knows to be dangerous. Its own strings of all characters
 * would begin with a table of them, which takes a second to make.
 */
export function anyText(maxLength: number): fc.Arbitrary<string> {
  return fc.oneof(
    {
      arbitrary: fc.array(codePoint, { maxLength }).map((points) => String.fromCodePoint(...points)),
      weight: 4,
    },
    fc.string({ maxLength }),
  );
}
