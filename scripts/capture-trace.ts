import { fork, type ChildProcess } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";

/**
 * How many files of `src` a capture passes, and how often it crosses from one layer to another: the server is started
 * with its default settings and with each function noting its calls, takes one payment, and captures it. What the request
 * calls until its answer is sent is noted; what composes the program, or works in the background, does not count. A
 * crossing is a pair of files in two layers of which one calls the other. See docs/adr/0104.
 */
interface Trace {
  readonly files: readonly string[];
  /** `caller callee` */
  readonly calls: readonly string[];
}

const root = join(__dirname, "..");

async function main(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "holdfast-trace-"));
  const server = fork(join(root, "src/main.ts"), ["serve", "--port", "0"], {
    cwd: folder,
    execArgv: ["-r", join(__dirname, "trace-calls.cjs")],
    stdio: ["ignore", "ignore", "pipe", "ipc"],
  });
  try {
    const url = await listening(server);
    const { payment } = (await post(`${url}/payments`, {
      amount: 1_000,
      currency: "EUR",
      paymentMethod: "tok_ok",
    })) as { readonly payment: { readonly id: string } };
    await told(server, "begin");
    await post(`${url}/payments/${payment.id}/capture`, {});
    print((await told(server, "end")) as Trace);
  } finally {
    server.kill("SIGTERM");
    await once(server, "exit");
    rmSync(folder, { recursive: true, force: true });
  }
}

async function listening(server: ChildProcess): Promise<string> {
  if (server.stderr === null) throw new Error("stderr was asked for");
  const lines = createInterface({ input: server.stderr });
  for await (const line of lines) {
    const url = /listening on (http:\S+)/.exec(line)?.[1];
    if (url !== undefined) return url;
  }
  throw new Error("the server ended before it listened");
}

async function post(url: string, body: object): Promise<unknown> {
  const headers = { "Content-Type": "application/json", "Idempotency-Key": randomUUID() };
  const response = await fetch(url, { method: "POST", headers, body: JSON.stringify(body) });
  if (response.status !== 201) throw new Error(`${url}: ${response.status} ${await response.text()}`);
  return response.json();
}

async function told(server: ChildProcess, message: "begin" | "end"): Promise<unknown> {
  server.send(message);
  const [answer] = (await once(server, "message")) as [unknown];
  return answer;
}

function print({ files, calls }: Trace): void {
  const crossings = calls.filter((call) => {
    const [caller = "", callee = ""] = call.split(" ");
    return layerOf(caller) !== layerOf(callee);
  });
  for (const file of files) console.log(`  ${file}`);
  console.log(`\n${crossings.map((call) => `  ${call.replace(" ", " → ")}`).join("\n")}\n`);
  const layers = [...new Set(files.map(layerOf))].map(
    (layer) => `${layer} ${files.filter((file) => layerOf(file) === layer).length}`,
  );
  console.log(`${files.length} files (${layers.join(", ")}), ${crossings.length} crossings of layers`);
}

function layerOf(file: string): string {
  return file.split("/")[0] ?? file;
}

void main();
