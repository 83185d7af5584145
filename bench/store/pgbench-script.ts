import { numberedText } from "./numbered-payments";
import type { SentStatement } from "./frozen-capture";

/**
 * What one capture sent, as a script that sends it for a payment of its own in each transaction: `:base` and `:perclient`
 * say where each client begins to count.
 */
export function pgbenchScript(sent: readonly SentStatement[]): string {
  const counting = "\\set i :i + 1\n\\set n :base + :client_id * :perclient + :i";
  return `${[counting, ...sent.map(statement)].join("\n")}\n`;
}

function statement({ text, values }: SentStatement): string {
  // Its key is a number that stands for the payment: with the same one for all, clients would wait for each other.
  const isLock = text.includes("advisory");
  const line = text.replaceAll(/\s+/g, " ");
  if (line.includes(";")) throw new Error(`a capture sends several statements in one message: ${line}`);
  return `${line.replaceAll(/\$(\d+)/g, (_, position: string) =>
    expression(values[Number(position) - 1], isLock),
  )};`;
}

function expression(value: unknown, isLock: boolean): string {
  if (value === null || value === undefined) return "NULL";
  if (typeof value === "number" || typeof value === "boolean") return String(value);
  if (typeof value === "bigint") return isLock ? `(${value} + :n)::bigint` : `${value}::bigint`;
  if (typeof value === "string") return numberedText(value, "(:n)::bigint", "postgres");
  throw new Error(`a value is a ${typeof value}`);
}
