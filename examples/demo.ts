/**
 * The point of Holdfast in ten seconds: 400 captures of one payment at once, with the lock and without it.
 * Starts a server of its own on a free port, with everything in memory; `npm run demo` builds it first.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { Picture } from "./demo/picture";

const [, , program = join(__dirname, "..", "dist", "holdfast.js"), callers = "200"] = process.argv;
const CALLERS = Number(callers);
const picture = new Picture(process.stdout, process.env);

void main();

async function main(): Promise<void> {
  await round("With the lock: callers wait in line", ["--locks", "memory:"]);
  await round("Without it: versions and constraints alone keep the money safe", [
    "--locks",
    "none:",
    "--allow-unlocked",
  ]);
}

async function round(title: string, flags: readonly string[]): Promise<void> {
  const { url, stop } = await startServer(flags);
  try {
    picture.title(title);
    const { payment } = await post(`${url}/payments`, "demo-authorize", {
      amount: 1_999,
      currency: "EUR",
      // A gateway that takes its time, so that the callers really meet.
      paymentMethod: "tok_slow_50",
    });
    picture.line(`${2 * CALLERS} requests at once capture one payment of 19.99 EUR`);
    const path = `${url}/payments/${payment.id}/capture`;
    let answered = 0;
    const asked = (key: string): Promise<Answer> =>
      capture(path, key).finally(() =>
        picture.progress((answered += 1), 2 * CALLERS, `of ${2 * CALLERS} answered`),
      );
    const oneKey = Array.from({ length: CALLERS }, () => asked("demo-shared"));
    const ownKeys = Array.from({ length: CALLERS }, (_, caller) => asked(`demo-${caller}`));
    tell(await Promise.all(oneKey), await Promise.all(ownKeys));
    const answer = await fetch(`${url}/gateway/payments/${payment.id}`);
    const { moves } = (await answer.json()) as Json;
    const captures = moves.filter(({ kind }) => kind === "capture").length;
    picture.verdict(captures === 1, `the gateway moved money ${captures} time${captures === 1 ? "" : "s"}`);
    if (captures !== 1) process.exitCode = 1;
  } finally {
    await stop();
  }
}

/** How many got which answer. All successes have to be about the same capture. */
function tell(oneKey: readonly Answer[], ownKeys: readonly Answer[]): void {
  const told = [...oneKey, ...ownKeys].map(inWords);
  const count = (answers: readonly Answer[], words: string): number =>
    answers.filter((answer) => inWords(answer) === words).length;
  picture.table(
    ["answer", `${CALLERS} with one key`, `${CALLERS} with a key each`],
    [...new Set(told)].sort().map((words) => [words, count(oneKey, words), count(ownKeys, words)]),
  );
  const captures = new Set([...oneKey, ...ownKeys].flatMap(({ captureId }) => captureId ?? []));
  if (captures.size > 1) {
    picture.verdict(false, `the answers are about ${captures.size} captures`);
    process.exitCode = 1;
  }
}

function inWords({ status, word }: Answer): string {
  return `${status} ${word}`;
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
