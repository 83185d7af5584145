import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { buffer } from "node:stream/consumers";
import { UsageError } from "../exit-status";

/** One line of a batch, as `POST /captures` takes it. */
export interface BatchCapture {
  readonly paymentId: string;
  readonly idempotencyKey: string;
  readonly amount?: number;
  readonly currency?: string;
}

/** They are all in memory. */
const MAX_CAPTURES = 1_000_000;
const MAX_TOLD_LINES = 20;
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
/** `failed` is what an earlier run has written about the capture. */
const MEMBERS = new Set(["paymentId", "idempotencyKey", "amount", "currency", "failed"]);

/** The captures of a file of JSON lines, all of it checked before anything is sent. `-` is stdin. */
export async function capturesInFile(file: string): Promise<readonly BatchCapture[]> {
  const captures = capturesIn(await textOf(file), file === "-" ? "stdin" : file);
  if (captures.length === 0) throw new UsageError(`--batch ${file}: there are no captures in it`);
  return captures;
}

async function textOf(file: string): Promise<string> {
  try {
    return (await (file === "-" ? buffer(process.stdin) : readFile(file))).toString();
  } catch (error) {
    throw new UsageError(`--batch ${file}: cannot be read: ${(error as Error).message}`);
  }
}

function capturesIn(text: string, source: string): readonly BatchCapture[] {
  const captures: BatchCapture[] = [];
  const wrong: string[] = [];
  text.split("\n").forEach((line, at) => {
    if (line.trim() === "") return;
    const read = captureIn(line);
    if (typeof read !== "string") captures.push(read);
    else if (wrong.push(`${source}:${at + 1} ${read}`) > MAX_TOLD_LINES) wrong.pop();
  });
  if (wrong.length > 0)
    throw new UsageError(`nothing was sent, because of these lines:\n${wrong.join("\n")}`);
  if (captures.length > MAX_CAPTURES) {
    throw new UsageError(`${source} has more than ${MAX_CAPTURES} captures: split it`);
  }
  return captures;
}

/** The capture, or what is wrong with the line. */
function captureIn(line: string): BatchCapture | string {
  const given = parsed(line);
  if (given === null) return 'is not a JSON object such as {"paymentId":"…","amount":1250}';
  const { paymentId, idempotencyKey, amount, currency } = given;
  const unknown = Object.keys(given).find((name) => !MEMBERS.has(name));
  if (unknown !== undefined) return `has ${JSON.stringify(unknown)}, which is not recognized`;
  if (typeof paymentId !== "string" || !UUID.test(paymentId))
    return "has no paymentId that is a payment's id";
  if (amount !== undefined && !isAmount(amount)) return "has an amount that is not a whole number above 0";
  if (currency !== undefined && !isText(currency)) return "has a currency that is not a text";
  if (idempotencyKey !== undefined && !isText(idempotencyKey))
    return "has an idempotencyKey that is not a text";
  const content = {
    paymentId: paymentId.toLowerCase(),
    ...(amount === undefined ? {} : { amount }),
    ...(currency === undefined ? {} : { currency: currency.toUpperCase() }),
  };
  return { ...content, idempotencyKey: idempotencyKey ?? keyOf(content) };
}

/**
 * Made from the content alone: whoever runs the same file again, after whatever ended the run before, sends the same keys,
 * and a file with a line in another place or with one line more does, too.
 */
function keyOf({ paymentId, amount, currency }: Omit<BatchCapture, "idempotencyKey">): string {
  const content = JSON.stringify([paymentId, amount ?? null, currency ?? null]);
  return `batch-${createHash("sha256").update(content).digest("hex").slice(0, 40)}`;
}

function parsed(line: string): Readonly<Record<string, unknown>> | null {
  try {
    const value: unknown = JSON.parse(line);
    const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
    return isObject ? (value as Record<string, unknown>) : null;
  } catch {
    return null;
  }
}

function isAmount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) > 0;
}

function isText(value: unknown): value is string {
  return typeof value === "string" && value !== "";
}
