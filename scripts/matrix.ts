import { execFileSync, spawn } from "node:child_process";
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

// npm run matrix: what is committed, in a fresh clone for each supported line of Node and the newest one published: npm ci,
// npm start, the README's capture sent twice, and the tests that need no server. Ends with 1 if one of them fails.
//   npm run matrix -- 22 latest         only these
//   npm run matrix -- --no-tests        what takes seconds

const LINES = ["20", "22", "24", "latest"];
const root = join(__dirname, "..");
/** Of a step that failed. */
const LINES_SHOWN = 60;

export interface Outcome {
  readonly isGood: boolean;
  /** What the table says of it. */
  readonly said: string;
}

/** One line of Node tried: its version, and what came of each step, as far as they were taken. */
export interface Tried {
  readonly version: string;
  readonly outcomes: readonly Outcome[];
}

export interface Wanted {
  readonly lines: readonly string[];
  readonly hasTests: boolean;
}

export function wanted(args: readonly string[]): Wanted {
  const lines = args.filter((arg) => arg !== "--no-tests");
  const wrong = lines.filter((line) => !/^(\d+(\.\d+){0,2}|latest)$/.test(line));
  if (wrong.length > 0) throw new Error(`no line of Node: ${wrong.join(", ")}`);
  return { lines: lines.length > 0 ? lines : LINES, hasTests: !args.includes("--no-tests") };
}

/** One after the other: each of them uses all of the machine. Tells each when it is known, and whether all are good. */
export async function matrix(
  lines: readonly string[],
  tryLine: (line: string) => Promise<Tried>,
  tell: (row: string) => void,
): Promise<boolean> {
  let isGood = true;
  for (const line of lines) {
    const { version, outcomes } = await tryLine(line).catch((error: unknown) => ({
      version: "none",
      outcomes: [{ isGood: false, said: `could not be had: ${(error as Error).message}` }],
    }));
    isGood &&= outcomes.every((outcome) => outcome.isGood);
    const said = outcomes.map((outcome) => `${outcome.isGood ? "ok" : "FAILED"}  ${outcome.said}`);
    tell([`node ${line}`.padEnd(12), version.padEnd(10), ...said].join("  "));
  }
  return isGood;
}

class LineOfNode {
  /** A file for each step: one that was ended may have left somebody who still writes. */
  private steps = 0;
  private log = "";

  private constructor(
    private readonly work: string,
    private readonly environment: NodeJS.ProcessEnv,
  ) {}

  static async in(work: string, line: string): Promise<LineOfNode> {
    // The gate fetches its Node in the same way.
    const fetched = join(work, "path");
    const script = '. .ci/tools.sh && fetch_node "$1" "$2/node" && printf %s "$node_path" > "$3"';
    const status = await logged(["bash", "-c", script, "bash", line, work, fetched], join(work, "log"), {});
    if (status !== 0) throw new Error(lastLines(join(work, "log"), 1));
    const { PATH = "" } = process.env;
    return new LineOfNode(work, {
      PATH: `${readFileSync(fetched, "utf8")}:${PATH}`,
      HOLDFAST_PORT: String(await freePort()),
      HOLDFAST_TEST_POSTGRES_URL: "none",
      HOLDFAST_TEST_REDIS_URL: "none",
    });
  }

  async tried(hasTests: boolean): Promise<Tried> {
    const clone = join(this.work, "clone");
    execFileSync("git", ["clone", "--quiet", root, clone]);
    const version = execFileSync("node", ["--version"], { encoding: "utf8", env: this.inEnvironment() });
    const outcomes = [
      await this.step("start, a capture twice", [join(root, ".ci", "readme-example"), clone]),
    ];
    if (hasTests && outcomes.every(({ isGood }) => isGood)) {
      const results = join(this.work, "results");
      const tests = `mkdir "$1" && cd "$2" && .ci/run-tests "$1/tests" npm test --`;
      await this.step("tests", ["bash", "-c", tests, "bash", results, clone]);
      const counted = await this.step("tests", ["node", join(root, ".ci", "count-tests.cjs"), results]);
      outcomes.push({ ...counted, said: lastLines(this.log, 1) });
    }
    return { version: version.trim(), outcomes };
  }

  private async step(name: string, command: readonly string[]): Promise<Outcome> {
    this.log = join(this.work, `step-${(this.steps += 1)}`);
    const beganMs = performance.now();
    const status = await logged(["timeout", "40m", ...command], this.log, this.inEnvironment());
    if (status !== 0) console.error(lastLines(this.log));
    const seconds = Math.round((performance.now() - beganMs) / 1_000);
    return { isGood: status === 0, said: `${name} ${seconds} s` };
  }

  private inEnvironment(): NodeJS.ProcessEnv {
    return { ...process.env, ...this.environment };
  }
}

function logged([program = "", ...args]: readonly string[], log: string, env: NodeJS.ProcessEnv) {
  const file = openSync(log, "w");
  return new Promise<number>((resolve, reject) => {
    const child = spawn(program, args, {
      cwd: root,
      env: { ...process.env, ...env },
      stdio: ["ignore", file, file],
    });
    child.once("error", reject);
    child.once("exit", (status) => resolve(status ?? 1));
  }).finally(() => closeSync(file));
}

function lastLines(log: string, count = LINES_SHOWN): string {
  return readFileSync(log, "utf8").trimEnd().split("\n").slice(-count).join("\n");
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

async function main(): Promise<void> {
  const { lines, hasTests } = wanted(process.argv.slice(2));
  // The terminal interrupts the step, too; what it leaves is removed here.
  let isInterrupted = false;
  process.on("SIGINT", () => (isInterrupted = true));
  if (execFileSync("git", ["status", "--porcelain"], { cwd: root, encoding: "utf8" }) !== "")
    console.error("what is not committed is not tried");
  const tryLine = async (line: string): Promise<Tried> => {
    if (isInterrupted) throw new Error("interrupted");
    const work = mkdtempSync(join(tmpdir(), "holdfast-matrix-"));
    try {
      return await (await LineOfNode.in(work, line)).tried(hasTests);
    } finally {
      rmSync(work, { recursive: true, force: true });
    }
  };
  if (!(await matrix(lines, tryLine, console.log))) process.exitCode = 1;
}

if (require.main === module)
  main().catch((error: unknown) => {
    console.error((error as Error).message);
    process.exitCode = 64;
  });
