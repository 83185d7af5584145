import { spawn, type ChildProcess } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { LockError } from "../../../../application/ports/lock-errors";
import type { LockProvider } from "../../../../application/ports/lock-provider";
import { within, type ChildCommand } from "../contract-test";

type Order =
  | {
      readonly do: "enter";
      readonly resourceId: string;
      readonly timeout: number | "infinite";
      readonly permits?: number | undefined;
    }
  | { readonly do: "keep"; readonly resourceId: string; readonly lockAtLeastFor: number }
  | { readonly do: "leave"; readonly resourceId: string }
  | { readonly do: "count"; readonly resourceId: string; readonly file: string; readonly times: number };

type Reply = { readonly ok: string } | { readonly code: string; readonly message: string };

/** To be called by a driver's child script: does with its provider what the contract in the parent asks for. */
export function runLockChild(open: () => LockProvider | Promise<LockProvider>): void {
  const provider = Promise.resolve().then(open);
  const leaving = new Map<string, () => Promise<void>>();
  process.on("message", ({ number, order }: { number: number; order: Order }) => {
    void obey(provider, order, leaving)
      .then((ok): Reply => ({ ok }), asReply)
      .then((reply) => process.send?.({ number, reply }));
  });
  // Nothing outlives the test that started it.
  process.on("disconnect", () => process.exit(0));
}

async function obey(
  provider: Promise<LockProvider>,
  order: Order,
  leaving: Map<string, () => Promise<void>>,
): Promise<string> {
  const locks = await provider;
  const { resourceId } = order;
  if (order.do === "count") {
    for (let n = 0; n < order.times; n += 1)
      await locks.withLock(resourceId, () => countOneMore(order.file), { timeout: "infinite" });
    return "counted";
  }
  if (order.do === "keep") {
    const { lockAtLeastFor } = order;
    await locks.withLock(resourceId, () => undefined, {
      timeout: "infinite",
      lockAtLeastFor,
      release: "await",
    });
    return "kept";
  }
  if (order.do === "leave") {
    await leaving.get(resourceId)?.();
    leaving.delete(resourceId);
    return "left";
  }
  return new Promise<string>((resolve, reject) => {
    const done = locks.withLock(
      resourceId,
      (hold) =>
        new Promise<void>((letGo) => {
          leaving.set(resourceId, () => {
            letGo();
            return done;
          });
          resolve(String(hold.fencingToken));
        }),
      {
        timeout: order.timeout,
        purpose: "contract",
        // Who is told that it has left may ask for the lock in another process.
        release: "await",
        ...(order.permits !== undefined && { permits: order.permits }),
      },
    );
    done.catch(reject);
  });
}

/** Loses counts as soon as two are inside at once: it leaves the others the time to come in between. */
export async function countOneMore(file: string): Promise<void> {
  const count = Number(await readFile(file, "utf8"));
  await new Promise((resolve) => setTimeout(resolve, 2));
  await writeFile(file, String(count + 1));
}

function asReply(error: unknown): Reply {
  return { code: error instanceof LockError ? error.code : "other", message: String(error) };
}

/** The other end: a process that locks what it is told to. */
export class LockChild {
  private readonly process: ChildProcess;
  private readonly exited: Promise<unknown>;
  private readonly replies = new Map<number, (reply: Reply) => void>();
  private orders = 0;

  constructor(
    { file, args, env }: ChildCommand,
    private readonly patienceMs: number,
  ) {
    this.process = spawn(file, args, {
      stdio: ["ignore", "inherit", "inherit", "ipc"],
      env: { ...process.env, ...env },
    });
    this.exited = new Promise((resolve) => this.process.once("close", resolve));
    this.process.once("error", (error) => this.fail(String(error)));
    this.process.once("exit", () => this.fail("the child has exited"));
    this.process.on("message", ({ number, reply }: { number: number; reply: Reply }) => {
      this.replies.get(number)?.(reply);
      this.replies.delete(number);
    });
  }

  /** Resolves with the fencing token when the child is inside. */
  async enter(
    resourceId: string,
    timeout: number | "infinite" = this.patienceMs,
    permits?: number,
  ): Promise<bigint> {
    return BigInt(await this.order({ do: "enter", resourceId, timeout, permits }));
  }

  async leave(resourceId: string): Promise<void> {
    await this.order({ do: "leave", resourceId });
  }

  /** Resolves when the child may end: its section has ended, and what is left of the time is kept without it. */
  async keep(resourceId: string, lockAtLeastFor: number): Promise<void> {
    await this.order({ do: "keep", resourceId, lockAtLeastFor });
  }

  async count(resourceId: string, file: string, times: number): Promise<void> {
    await this.order({ do: "count", resourceId, file, times });
  }

  /** As `kill -9` does: the child gets no chance to clean up. Resolves when it is gone. */
  async kill(): Promise<void> {
    this.process.kill("SIGKILL");
    await this.exited;
  }

  private async order(order: Order): Promise<string> {
    const number = (this.orders += 1);
    const reply = await within(
      this.patienceMs * 2,
      new Promise<Reply>((resolve) => {
        this.replies.set(number, resolve);
        this.process.send({ number, order }, (error) => {
          if (error !== null) resolve({ code: "other", message: String(error) });
        });
      }),
    );
    if ("ok" in reply) return reply.ok;
    throw Object.assign(new Error(`in the child: ${reply.message}`), { code: reply.code });
  }

  private fail(message: string): void {
    for (const settle of this.replies.values()) settle({ code: "other", message });
    this.replies.clear();
  }
}
