import type { Sandbox } from "./sandbox";
import type { SandboxId } from "./sandbox-ids";

/** On its way here, or here. `waits`: its lock was waited for, as only an explicit attach does. */
export interface Place {
  readonly arrived: Promise<Sandbox>;
  readonly waits: boolean;
  sandbox?: Sandbox;
}

/**
 * For each id there is at most one place, made before anything is awaited: requests that come while it is being filled
 * wait for the same attempt. The place is cleared when the attempt fails, or when the sandbox has left and its lock is
 * released, so a second owner in this process cannot come about either.
 */
export class SandboxPlaces {
  private readonly places = new Map<SandboxId, Place>();

  get count(): number {
    return this.places.size;
  }

  of(id: SandboxId): Place | undefined {
    return this.places.get(id);
  }

  /** As they are now, whatever becomes of them meanwhile. */
  all(): readonly Place[] {
    return [...this.places.values()];
  }

  /** `arrive` calls `here` when the sandbox is ours, and not before it has waited for something. */
  fill(id: SandboxId, waits: boolean, arrive: (here: (sandbox: Sandbox) => void) => Promise<Sandbox>): Place {
    const place: Place = { waits, arrived: arrive((sandbox) => (place.sandbox = sandbox)) };
    this.places.set(id, place);
    place.arrived.catch(() => this.clear(id, place));
    return place;
  }

  /** It has left, and its lock is released. */
  left(sandbox: Sandbox): void {
    const place = this.places.get(sandbox.id);
    if (place?.sandbox === sandbox) this.clear(sandbox.id, place);
  }

  private clear(id: SandboxId, place: Place): void {
    if (this.places.get(id) === place) this.places.delete(id);
  }
}
