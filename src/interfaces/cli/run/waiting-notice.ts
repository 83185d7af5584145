import { describeHolder } from "../../../application/ports/lock-errors";
import type { LockEvent, LockObserver } from "../../../application/ports/lock-observer";
import type { LockHolder } from "../../../application/ports/lock-provider";
import { ERASE_LINE, type TerminalLine } from "../terminal-line";

/** A wait that is over before anybody could read about it is not worth a line. */
const SILENT_MS = 400;
/** Where lines cannot be rewritten, one in ten seconds is enough. */
const PLAIN_EVERY_MS = 10_000;

export interface NoticeParts extends TerminalLine {
  /** A line of its own. */
  readonly note: (text: string) => void;
  /** Monotonic. */
  readonly nowMs: () => number;
  /** To tell for how long the holder has been inside. */
  readonly wallMs: () => number;
  /** Calls back after that time; returns how to stop it. */
  readonly after: (ms: number, callback: () => void) => () => void;
}

/** Tells a person what they are waiting for: one line that updates on a terminal, a few plain lines elsewhere. */
export class WaitingNotice implements LockObserver {
  private startedAtMs = 0;
  private toldAtMs: number | undefined;
  private cancelFirst: (() => void) | undefined;
  private latest: LockEvent | undefined;
  private lineShown = false;

  constructor(private readonly parts: NoticeParts) {}

  notify(event: LockEvent): void {
    switch (event.type) {
      case "wait_started":
        this.startedAtMs = this.parts.nowMs();
        this.latest = event;
        this.cancelFirst = this.parts.after(SILENT_MS, () => this.tell());
        return;
      case "retried":
      case "progressed":
        this.latest = event;
        if (this.parts.nowMs() - this.startedAtMs >= SILENT_MS) this.tell();
        return;
      case "acquired":
      case "timed_out":
      case "cancelled":
      case "unavailable":
        this.end();
        return;
      default:
        return;
    }
  }

  /** Also called when the program ends for another reason: the line must not stay behind. */
  end(): void {
    this.cancelFirst?.();
    this.cancelFirst = undefined;
    this.latest = undefined;
    if (this.lineShown) this.parts.write(ERASE_LINE);
    this.lineShown = false;
  }

  private tell(): void {
    const event = this.latest;
    if (event === undefined) return;
    const nowMs = this.parts.nowMs();
    const columns = this.parts.columns();
    if (columns > 0) {
      this.parts.write(`${ERASE_LINE}${cut(this.sentence(event), columns - 1)}`);
      this.lineShown = true;
    } else if (this.toldAtMs === undefined || nowMs - this.toldAtMs >= PLAIN_EVERY_MS) {
      this.parts.note(this.sentence(event));
      this.toldAtMs = nowMs;
    }
  }

  private sentence({ resourceId, holder, failure, remainingMs }: LockEvent): string {
    const left = remainingMs === undefined ? "no limit" : `${Math.ceil(remainingMs / 1_000)} s left`;
    const who = failure ?? heldBy(holder, this.parts.wallMs());
    // Names and purposes are other people's words: one with a line break or an escape sequence stays a line of text.
    return `waiting for ${resourceId}, ${who}; ${left}, Ctrl-C to stop`.replace(/\p{Cc}+/gu, " ");
  }
}

/** A line that wraps could not be erased as one. Beyond Latin a character may take two columns. */
function cut(text: string, columns: number): string {
  let left = columns;
  let shown = "";
  for (const character of text) {
    left -= character <= "\u00ff" ? 1 : 2;
    if (left < 0) break;
    shown += character;
  }
  return shown;
}

/** `held by pid 4711 on web-2 for 12 s (deploy)` */
function heldBy(holder: LockHolder | undefined, nowMs: number): string {
  if (holder === undefined) return "held by another caller";
  const { since, purpose, ...who } = holder;
  const heldForMs = since === undefined ? undefined : Math.max(0, nowMs - since.getTime());
  const duration = heldForMs === undefined ? "" : ` for ${Math.round(heldForMs / 1_000)} s`;
  return `held by ${describeHolder(who)}${duration}${purpose === undefined ? "" : ` (${purpose})`}`;
}
