import { closeSync, fstatSync, readSync, writeSync } from "node:fs";
import { foreignFile, inWords } from "../file-lock-errors";
import { isZeros } from "./lock-record";
import { openToWrite } from "./plain-file";
import { setAside } from "./set-aside";

/** Holds any millisecond and any 63-bit number; of fixed width, so that one write replaces the whole number. */
const DIGITS = 20;
const LINE_END = 1;
/** A counter whose number is gone goes on so far above its last write. */
const AHEAD_MS = 1_000n;

/**
 * Draws the next fencing token of a lock that the caller has just taken: `max(previous, now) + 1`. The counter's file is
 * never removed. Should it be lost after all (a restored backup), the clock keeps tokens growing all the same.
 */
export function drawFence(path: string, nowMs: number): bigint {
  try {
    const fd = openToWrite(path);
    try {
      const previous = numberIn(fd, path);
      const now = BigInt(Math.floor(nowMs));
      const next = (previous > now ? previous : now) + 1n;
      writeSync(fd, `${next.toString().padStart(DIGITS, "0")}\n`, 0);
      return next;
    } finally {
      closeSync(fd);
    }
  } catch (error) {
    throw inWords(error, `write to ${path}`);
  }
}

function numberIn(fd: number, path: string): bigint {
  // One more than it should hold: somebody else's file may begin like ours.
  const buffer = Buffer.alloc(DIGITS + LINE_END + 1);
  const text = buffer.toString("latin1", 0, readSync(fd, buffer, 0, buffer.length, 0));
  if (text === "") return 0n;
  if (isZeros(text)) {
    setAside(path);
    // What it held was its last write's millisecond, or little more where an id was locked many times in one.
    return BigInt(Math.ceil(fstatSync(fd).mtimeMs)) + AHEAD_MS;
  }
  if (!/^\d{20}\n$/.test(text)) throw foreignFile(path);
  return BigInt(text.trimEnd());
}
