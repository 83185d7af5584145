import { settled } from "../../support/fakes/gate";
import { EventQueue, type QueuedEvent } from "./event-queue";

const HISTORY_LINES = 400;

/** True time, the order of events, and what happened lately. */
export class World {
  /** The one time that nobody in the simulation can see. */
  nowMs = 0;
  private order = 0;
  private readonly queue = new EventQueue();
  private readonly lines: string[] = [];
  private digest = 0;

  /** Plans something for a moment; returns how to call it off. */
  at(atMs: number, run: () => void): () => void {
    const event: QueuedEvent = {
      atMs: Math.max(atMs, this.nowMs),
      order: (this.order += 1),
      run,
      cancelled: false,
    };
    this.queue.push(event);
    return () => {
      event.cancelled = true;
    };
  }

  in(delayMs: number, run: () => void): () => void {
    return this.at(this.nowMs + delayMs, run);
  }

  /** Lets one event after the other happen, each with everything that follows from it, until told to stop. */
  async run(isOver: () => boolean): Promise<void> {
    await settled();
    while (!isOver()) {
      const event = this.queue.pop();
      if (event === undefined) return;
      if (event.cancelled) continue;
      this.nowMs = event.atMs;
      event.run();
      await settled();
    }
  }

  note(who: string, what: string): void {
    const line = `${(this.nowMs / 1000).toFixed(3).padStart(10)} ${who.padEnd(6)} ${what}`;
    this.lines.push(line);
    if (this.lines.length > 2 * HISTORY_LINES) this.lines.splice(0, HISTORY_LINES);
    for (let index = 0; index < line.length; index += 1)
      this.digest = (Math.imul(this.digest, 31) + line.charCodeAt(index)) | 0;
  }

  history(): string {
    return this.lines.slice(-HISTORY_LINES).join("\n");
  }

  /** The same for the same history. */
  get fingerprint(): number {
    return this.digest;
  }
}
