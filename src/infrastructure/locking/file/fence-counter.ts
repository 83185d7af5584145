import { open } from "node:fs/promises";
import { foreignFile, inWords } from "./file-lock-errors";
import { READ_WRITE_OR_CREATE } from "./lock-files";

/** Holds any millisecond and any 63-bit number; of fixed width, so that one write replaces the whole number. */
const DIGITS = 20;

/**
 * Draws the next fencing token of a lock that the caller has just taken: `max(previous, now) + 1`. The counter's file is
 * never removed. Should it be lost after all (a restored backup), the clock keeps tokens growing all the same.
 */
export async function drawFence(path: string, nowMs: number): Promise<bigint> {
  try {
    const file = await open(path, READ_WRITE_OR_CREATE, 0o600);
    try {
      const text = await file.readFile("utf8");
      if (text !== "" && !/^\d{20}\n$/.test(text)) throw foreignFile(path);
      const previous = text === "" ? 0n : BigInt(text.trimEnd());
      const now = BigInt(Math.floor(nowMs));
      const next = (previous > now ? previous : now) + 1n;
      await file.write(`${next.toString().padStart(DIGITS, "0")}\n`, 0);
      return next;
    } finally {
      await file.close();
    }
  } catch (error) {
    throw inWords(error, `write to ${path}`);
  }
}
