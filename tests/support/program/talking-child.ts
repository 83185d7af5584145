import { spawn, type ChildProcess } from "node:child_process";
import type { ChildCommand } from "../../../src/lock-contract";

interface Told {
  readonly number?: number;
  readonly answer?: unknown;
  readonly ask?: unknown;
}

/** A process of its own that does what it is told, and may ask back. Signals go to it alone, by its id. */
export class TalkingChild {
  private readonly process: ChildProcess;
  private readonly gone: Promise<unknown>;
  private readonly answers = new Map<number, (answer: unknown) => void>();
  private readonly killWithUs = (): void => void this.process.kill("SIGKILL");
  private orders = 0;

  /** `reply` answers what the child asks, or hears what it tells. */
  constructor({ file, args, env }: ChildCommand, reply: (asked: unknown) => unknown = () => null) {
    this.process = spawn(file, args, {
      stdio: ["ignore", "inherit", "inherit", "ipc"],
      env: { ...process.env, ...env },
    });
    process.once("exit", this.killWithUs);
    this.gone = new Promise((resolve) => this.process.once("close", resolve));
    this.process.on("message", (told: Told) => {
      if (told.ask === undefined) return this.answers.get(told.number ?? 0)?.(told.answer);
      void Promise.resolve(reply(told.ask)).then((answer) => this.send({ number: told.number, answer }));
    });
  }

  /** Resolves with what the child answers; never, if it is killed before. */
  tell(order: object): Promise<unknown> {
    const number = (this.orders += 1);
    return new Promise((resolve) => {
      this.answers.set(number, resolve);
      this.send({ number, order });
    });
  }

  stop(): void {
    this.process.kill("SIGSTOP");
  }

  continue(): void {
    this.process.kill("SIGCONT");
  }

  /** As `kill -9` does, whatever state it is in. */
  async kill(): Promise<void> {
    this.process.kill("SIGKILL");
    await this.gone;
    process.removeListener("exit", this.killWithUs);
  }

  private send(message: object): void {
    // One that was killed hears nothing any more.
    if (this.process.connected) this.process.send(message, () => undefined);
  }
}

/** The other end, for a child's script: `ask` reaches the parent's `reply`, `obey` is called for each order. */
export function talkToParent(obey: (order: never) => Promise<unknown>): {
  ask: (question: object) => Promise<unknown>;
} {
  const answers = new Map<number, (answer: unknown) => void>();
  let asked = 0;
  const send = (message: object): void => void process.send?.(message);
  process.on("message", ({ number, order, answer }: { number: number; order?: never; answer?: unknown }) => {
    if (order === undefined) return answers.get(number)?.(answer);
    void obey(order).then(
      (done) => send({ number, answer: done }),
      (error: unknown) =>
        send({ number, answer: { failed: (error as { code?: string }).code ?? String(error) } }),
    );
  });
  process.on("disconnect", () => process.exit(0));
  return {
    ask: (question) =>
      new Promise((resolve) => {
        asked += 1;
        answers.set(asked, resolve);
        send({ number: asked, ask: question });
      }),
  };
}
