/**
 * The point of Holdfast in ten seconds: 400 captures of one payment at once, with the lock and without it.
 * Starts a server of its own on a free port, with everything in memory; `npm run demo` builds it first.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";

const CALLERS = 200;
const program = join(__dirname, "..", "dist", "holdfast.js");

void main();

async function main(): Promise<void> {
  await round("With the lock (locks=memory:)", ["--locks", "memory:"]);
  await round("With the lock switched off (locks=none:): versions and constraints alone", [
    "--locks",
    "none:",
    "--allow-unlocked",
  ]);
}

async function round(title: string, flags: readonly string[]): Promise<void> {
  const { url, stop } = await startServer(flags);
  try {
    console.log(`\n${title}`);
    const { payment } = await post(`${url}/payments`, "demo-authorize", {
      amount: 1_999,
      currency: "EUR",
      // A gateway that takes its time, so that the callers really meet.
      paymentMethod: "tok_slow_50",
    });
    console.log(`  authorized ${payment.id} over 19.99 EUR; ${2 * CALLERS} captures at once:`);
    const path = `${url}/payments/${payment.id}/capture`;
    const oneKey = Array.from({ length: CALLERS }, () => capture(path, "demo-shared"));
    const otherKeys = Array.from({ length: CALLERS }, (_, caller) => capture(path, `demo-${caller}`));
    tell(`${CALLERS} with one key`, await Promise.all(oneKey));
    tell(`${CALLERS} with keys of their own`, await Promise.all(otherKeys));
    const answer = await fetch(`${url}/gateway/payments/${payment.id}`);
    const { moves } = (await answer.json()) as Json;
    const captures = moves.filter(({ kind }) => kind === "capture").length;
    console.log(`  the gateway moved money ${captures} time${captures === 1 ? "" : "s"}`);
    if (captures !== 1) process.exitCode = 1;
  } finally {
    await stop();
  }
}

/** One line a group: how many got which answer, and whether all successes are about the same capture. */
function tell(group: string, answers: readonly Answer[]): void {
  const counts = new Map<string, number>();
  for (const { status, word } of answers) {
    const answer = `${status} ${word}`;
    counts.set(answer, (counts.get(answer) ?? 0) + 1);
  }
  const captures = new Set(answers.flatMap(({ captureId }) => captureId ?? []));
  const told = [...counts].map(([answer, count]) => `${count} × ${answer}`).join(", ");
  console.log(`    ${group}: ${told}${captures.size === 1 ? " (all one and the same capture)" : ""}`);
}

/** What the server answers; `/openapi.json` has it in full. */
interface Json {
  readonly payment: { readonly id: string };
  readonly capture: { readonly id: string; readonly status: string };
  readonly moves: readonly { readonly kind: string }[];
  readonly code: string;
}

interface Answer {
  readonly status: number;
  readonly word: string;
  readonly captureId?: string;
}

async function capture(path: string, key: string): Promise<Answer> {
  const response = await fetch(path, { method: "POST", headers: { "Idempotency-Key": key } });
  const body = (await response.json()) as Json;
  return response.ok
    ? { status: response.status, word: body.capture.status, captureId: body.capture.id }
    : { status: response.status, word: body.code };
}

async function post(path: string, key: string, body: object): Promise<Json> {
  const response = await fetch(path, {
    method: "POST",
    headers: { "Idempotency-Key": key, "Content-Type": "application/json" },
    body: JSON.stringify(body),
  });
  if (!response.ok) throw new Error(`${path} answered ${response.status}: ${await response.text()}`);
  return (await response.json()) as Json;
}

async function startServer(flags: readonly string[]) {
  const server = spawn(
    process.execPath,
    [
      program,
      "serve",
      "--store",
      "memory:",
      "--port",
      "0",
      "--shutdown-delay",
      "0",
      "--log-level",
      "warn",
      ...flags,
    ],
    { stdio: ["ignore", "ignore", "pipe"] },
  );
  for await (const line of createInterface({ input: server.stderr })) {
    const url = /listening on (\S+)/.exec(line)?.[1];
    if (url === undefined) continue;
    server.stderr.resume();
    const stop = async () => {
      server.kill("SIGTERM");
      if (server.exitCode === null) await once(server, "exit");
    };
    return { url, stop };
  }
  throw new Error("the server did not start");
}
