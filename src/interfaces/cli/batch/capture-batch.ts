import { rm, writeFile } from "node:fs/promises";
import type { CommandContext } from "../cli";
import { ServerClient } from "../client/server-client";
import { lineOnStderr } from "../terminal-line";
import type { Output } from "../output";
import { BatchTally, type WireResult } from "./batch-tally";
import { capturesInFile, type BatchCapture } from "./captures-in-file";
import { counted, ProgressBar } from "./progress-bar";

/** As many as the server takes in one request. */
const IN_ONE_REQUEST = 500;

export interface CaptureBatch {
  readonly file: string;
  /** Where to write what was not captured; default: beside the file. */
  readonly failedFile: string | undefined;
}

/** Some were not captured; which, the file says. */
class NotAllCapturedError extends Error {
  override readonly name = "NotAllCapturedError";

  constructor(
    readonly code: "refused" | "try_again",
    message: string,
  ) {
    super(message);
  }
}

/**
 * Captures each payment of a file, once, however often the command is run: the keys are the file's own, or are made from
 * its lines. What was not captured is written to a file that can be run in turn.
 */
export async function captureBatch(context: CommandContext, batch: CaptureBatch): Promise<void> {
  const output = context.output();
  const client = new ServerClient(context.configured().server());
  const captures = await capturesInFile(batch.file);
  const tally = new BatchTally(captures.length);
  await sendAll(client, captures, tally, output);
  const failedFile = batch.failedFile ?? besides(batch.file);
  await keepFailures(failedFile, tally);
  report(tally, failedFile, output);
}

async function sendAll(
  client: ServerClient,
  captures: readonly BatchCapture[],
  tally: BatchTally,
  output: Output,
): Promise<void> {
  const bar = new ProgressBar(lineOnStderr(output));
  try {
    bar.show(tally);
    let again: readonly BatchCapture[] = [];
    for (let at = 0; at < captures.length || again.length > 0;) {
      const more = captures.slice(at, at + IN_ONE_REQUEST - again.length);
      at += more.length;
      again = await sendSome(client, [...again, ...more], tally);
      bar.show(tally);
    }
    bar.end();
  } catch (error) {
    bar.end();
    const { captured, total } = tally;
    output.warn(
      `${counted(captured)} of ${counted(total)} were captured before this; repeat the command with the same file: no payment is captured twice`,
      { captured, captures: total },
    );
    throw error;
  }
}

/** Resolves with those for which the request had no time. */
async function sendSome(
  client: ServerClient,
  captures: readonly BatchCapture[],
  tally: BatchTally,
): Promise<readonly BatchCapture[]> {
  const { body } = await client.post("/captures", { captures });
  const results = body["results"] as readonly WireResult[];
  const begun = results.filter(({ body: { code } }) => code !== "capture_not_begun").length;
  const again: BatchCapture[] = [];
  captures.forEach((capture, n) => {
    const result = results[n];
    if (result === undefined) throw new Error("the server answered with fewer results than captures");
    // Each time fewer are left. A request that did not get to any of them would be repeated for ever.
    if (begun > 0 && result.body.code === "capture_not_begun") again.push(capture);
    else tally.add(capture, result);
  });
  return again;
}

/** `orders.jsonl` and `orders.failed.jsonl`. */
function besides(file: string): string {
  return file === "-" ? "captures.failed.jsonl" : `${file.replace(/\.jsonl$/, "")}.failed.jsonl`;
}

/** Those of this run; what an earlier one has left there is no longer true. */
async function keepFailures(file: string, { failures }: BatchTally): Promise<void> {
  if (failures.length === 0) await rm(file, { force: true });
  else await writeFile(file, failures.map((one) => `${JSON.stringify(one)}\n`).join(""));
}

function report(tally: BatchTally, failedFile: string, output: Output): void {
  const { total, captured, replayed, refused, notNow, reasons } = tally;
  const before = replayed === 0 ? "" : `, ${counted(replayed)} of them before this run`;
  const lines = reasons.map(([code, count]) => `  ${counted(count)} ${code}`);
  const hasFailed = captured < total;
  output.result(
    {
      ...{ captures: total, captured, replayed, refused, notNow },
      reasons: Object.fromEntries(reasons),
      failedFile: hasFailed ? failedFile : null,
    },
    [`captured ${counted(captured)} of ${counted(total)}${before}`, ...lines].join("\n"),
  );
  if (!hasFailed) return;
  const words = `${counted(total - captured)} were not captured: see ${failedFile}`;
  if (notNow === 0) throw new NotAllCapturedError("refused", words);
  throw new NotAllCapturedError(
    "try_again",
    `${words}; ${counted(notNow)} of them may succeed later: repeat the command with --batch ${failedFile}`,
  );
}
