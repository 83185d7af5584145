import { numberedText } from "./numbered-payments";
import type { RecordedQuery } from "./postgres-recorder";

/** Numbers that stand for a name, as advisory locks have them: with the same one for all, clients would wait. */
const LOCK_KEY = /-?\d{12,}/g;

/**
 * What one capture sent, as a script that sends it for a payment of its own in each transaction: `:base` and `:perclient`
 * say where each client begins to count.
 */
export function pgbenchScript(sent: readonly RecordedQuery[]): string {
  const counting = "\\set i :i + 1\n\\set n :base + :client_id * :perclient + :i";
  return `${[counting, ...sent.map(statement)].join("\n")}\n`;
}

function statement({ text, values }: RecordedQuery): string {
  const isLock = text.includes("advisory");
  const parts = text
    .replaceAll(/\s+/g, " ")
    .split(/;\s*/)
    .filter((part) => part.trim() !== "")
    .map((part) => (isLock ? part.replaceAll(LOCK_KEY, (key) => `(${key} + :n)`) : part))
    .map((part) =>
      part.replaceAll(/\$(\d+)/g, (_, position: string) => expression(values[Number(position) - 1], isLock)),
    );
  // Several statements in one message, as they were sent.
  return parts.length === 1 ? `${parts[0]};` : `\\startpipeline\n${parts.join(";\n")};\n\\endpipeline`;
}

function expression(value: unknown, isLock: boolean): string {
  if (value === null || value === undefined) return "NULL";
  if (typeof value === "number" || typeof value === "boolean") return String(value);
  if (typeof value === "bigint") return isLock ? `(${value} + :n)::bigint` : `${value}::bigint`;
  if (typeof value === "string") return numberedText(value, "(:n)::bigint", "postgres");
  throw new Error(`a value is a ${typeof value}`);
}
