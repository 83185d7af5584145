import { createHash } from "node:crypto";
import { RequestError } from "../../http/problems/request-error";
import type { ConsoleReply } from "./console-route";

const KEPT_MS = 10 * 60_000;
const MAX_KEPT = 256;

/** What a form of a browser is: sent again, it is the same one only if it goes to the same place with the same in it. */
export interface SentForm {
  /** Of the browser that it was shown to. */
  readonly token: string;
  /** What it was shown with. */
  readonly id: string;
  readonly path: string;
  readonly fields: Readonly<Record<string, string>>;
}

interface Kept {
  readonly reply: Promise<ConsoleReply>;
  readonly content: string;
  readonly sinceMs: number;
}

/**
 * What forms came to, by the id that each was shown with: a double click, or a reload of what a form was answered with, gets
 * the same answer again, and other content is refused. Of this process alone; movements of money carry an idempotency key
 * instead, which the store knows.
 */
export class Once {
  private readonly replies = new Map<string, Kept>();

  constructor(private readonly monotonicMs: () => number = () => performance.now()) {}

  /** Undefined for what was not sent yet, or long ago. */
  before(sent: SentForm): Promise<ConsoleReply> | undefined {
    this.forget();
    const kept = this.replies.get(idOf(sent));
    if (kept === undefined || kept.content === contentOf(sent)) return kept?.reply;
    throw new RequestError(
      "idempotency_key_reused",
      "This form was sent before with other content, and that was done. Nothing was done this time: load the page that it is " +
        "on again, and send it from there.",
    );
  }

  /** For what was not sent before. What fails is forgotten, and can be sent again. */
  do(sent: SentForm, work: () => Promise<ConsoleReply>): Promise<ConsoleReply> {
    const [id, content] = [idOf(sent), contentOf(sent)];
    const reply = work();
    this.replies.set(id, { reply, content, sinceMs: this.monotonicMs() });
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

function idOf({ token, id }: SentForm): string {
  return `${token} ${id}`;
}

/** In whichever order its fields came. */
function contentOf({ path, fields }: SentForm): string {
  const sorted = Object.entries(fields).sort(([a], [b]) => (a < b ? -1 : 1));
  return createHash("sha256")
    .update(JSON.stringify([path, sorted]))
    .digest("base64url");
}
