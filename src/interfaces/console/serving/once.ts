import type { ConsoleReply } from "./console-route";

const KEPT_MS = 10 * 60_000;
const MAX_KEPT = 256;

/**
 * What forms came to, by the id that each was shown with: a double click, or a reload of what a form was answered with, gets
 * the same answer again. Of this process alone; movements of money carry an idempotency key instead, which the store knows.
 */
export class Once {
  private readonly replies = new Map<
    string,
    { readonly reply: Promise<ConsoleReply>; readonly sinceMs: number }
  >();

  constructor(private readonly monotonicMs: () => number = () => performance.now()) {}

  /** Undefined for what was not sent yet, or long ago. */
  before(id: string): Promise<ConsoleReply> | undefined {
    this.forget();
    return this.replies.get(id)?.reply;
  }

  /** For what was not sent before. What fails is forgotten, and can be sent again. */
  do(id: string, work: () => Promise<ConsoleReply>): Promise<ConsoleReply> {
    const reply = work();
    this.replies.set(id, { reply, sinceMs: this.monotonicMs() });
    reply.catch(() => this.replies.delete(id));
    return reply;
  }

  private forget(): void {
    const oldestMs = this.monotonicMs() - KEPT_MS;
    for (const [id, { sinceMs }] of this.replies)
      if (sinceMs < oldestMs || this.replies.size >= MAX_KEPT) this.replies.delete(id);
      else break;
  }
}
