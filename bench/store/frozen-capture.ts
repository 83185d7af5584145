import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Table } from "./numbered-payments";

export interface SentStatement {
  readonly text: string;
  readonly values: readonly unknown[];
}

/** An authorized payment's rows, and everything that its capture sent to PostgreSQL. */
export interface FrozenCapture {
  readonly original: string;
  readonly tables: readonly Table[];
  readonly sent: readonly SentStatement[];
}

/**
 * As commit e1e8ac8 sent it, one statement after the other. It never changes: a ratio to these statements tells what was
 * gained since, where a ratio to the statements of now would only tell what is lost beside them.
 */
export function frozenCapture(): FrozenCapture {
  const path = join(__dirname, "../../../store/frozen-capture.json");
  return JSON.parse(readFileSync(path, "utf8"), (_, value: unknown) =>
    isBigint(value) ? BigInt(value.bigint) : value,
  ) as FrozenCapture;
}

function isBigint(value: unknown): value is { readonly bigint: string } {
  return typeof value === "object" && value !== null && "bigint" in value;
}
