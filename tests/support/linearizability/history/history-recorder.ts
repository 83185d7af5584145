import { appendFileSync, readFileSync } from "node:fs";
import type { HttpAnswer, HttpCall, HttpRequest } from "./http-call";

/** Null if there was no answer. */
export type RecordAnswer = (answer: HttpAnswer | null) => void;

type Line =
  | ({ readonly call: number } & Pick<HttpCall, "client" | "begin" | "beginWallMs" | "request">)
  | { readonly call: number; readonly end: number; readonly answer: HttpAnswer };

/**
 * Writes down what clients see, in the order in which they see it. With a file, each line is there before the request goes
 * out or its answer is used: a client that is killed leaves its last request without an answer.
 */
export class HistoryRecorder {
  private readonly lines: Line[] = [];
  private calls = 0;
  private answers = 0;

  constructor(
    private readonly client = `client ${process.pid}`,
    private readonly file?: string,
  ) {}

  /** Called right before the request is sent; what it returns, right after the answer came, or is known not to come. */
  begin(request: HttpRequest, client = this.client): RecordAnswer {
    const call = (this.calls += 1);
    this.write({ call, client, begin: monotonicMs(), beginWallMs: Date.now(), request });
    return (answer) => {
      if (answer === null) return;
      this.answers += 1;
      this.write({ call, end: monotonicMs(), answer });
    };
  }

  /** How many calls had an answer so far. */
  get answered(): number {
    return this.answers;
  }

  get history(): HttpCall[] {
    return callsOf(this.lines);
  }

  private write(line: Line): void {
    this.lines.push(line);
    if (this.file !== undefined) appendFileSync(this.file, `${JSON.stringify(line)}\n`);
  }
}

/** The histories of several processes of one machine as one. */
export function readHistories(files: readonly string[]): HttpCall[] {
  return files
    .flatMap((file) => {
      const lines = readFileSync(file, "utf8").split("\n");
      // Of a process that was killed, the last line may be half of one.
      return callsOf(lines.slice(0, -1).map((line) => JSON.parse(line) as Line));
    })
    .sort((one, other) => one.begin - other.begin);
}

function callsOf(lines: readonly Line[]): HttpCall[] {
  const calls = new Map<number, HttpCall>();
  for (const line of lines) {
    if ("request" in line) {
      const { call, ...begun } = line;
      calls.set(call, { ...begun, end: null, answer: null });
    } else {
      const { call, end, answer } = line;
      calls.set(call, { ...calls.get(call)!, end, answer });
    }
  }
  return [...calls.values()];
}

/** CLOCK_MONOTONIC: one clock for all processes since the machine started. */
function monotonicMs(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}
