import type { Clock } from "../../ports/clock";
import type { ManifestRecord } from "./manifest-record";
import type { SandboxEvent, SandboxEventType, SandboxObserver } from "../sandbox-events";
import type { SandboxId } from "../sandbox-ids";
import type { SandboxOwnership } from "../ownership/sandbox-ownership";

const KEPT_EVENTS = 50;

export interface HistoryParts {
  readonly id: SandboxId;
  readonly ownership: SandboxOwnership;
  readonly manifest: ManifestRecord;
  readonly clock: Clock;
  readonly observer: SandboxObserver;
}

/** What happened to a sandbox since it is here: told to observers, and kept for whoever looks at it later. */
export class SandboxHistory {
  private readonly told: SandboxEvent[] = [];

  constructor(private readonly parts: HistoryParts) {}

  /** Oldest first: the last of it. */
  get events(): readonly SandboxEvent[] {
    return this.told;
  }

  tell(type: SandboxEventType, more: Pick<SandboxEvent, "reason" | "error" | "snapshotId"> = {}): void {
    const { id, observer, clock, manifest, ownership } = this.parts;
    const { ownerUrl } = manifest.current;
    const event = { sandboxId: id, type, at: clock.now(), ownerUrl, fence: ownership.fence, ...more };
    this.told.push(event);
    if (this.told.length > KEPT_EVENTS) this.told.shift();
    observer.notify(event);
  }
}
