import { randomFillSync } from "node:crypto";

/** Drawn from the system in bulk: asking for a few bytes costs as much as asking for some thousand. */
const drawn = Buffer.alloc(4096);
let used = drawn.length;

/** So many random bytes as text that is safe in names and addresses. */
export function nonce(bytes: number): string {
  if (used + bytes > drawn.length) {
    randomFillSync(drawn);
    used = 0;
  }
  const text = drawn.toString("base64url", used, used + bytes);
  used += bytes;
  return text;
}
