import { LockLostError } from "../../../src/application/ports/lock-errors";
import type { LockHolder } from "../../../src/application/ports/lock-provider";
import type {
  Attempt,
  AttemptRequest,
  LockBackend,
  Semaphore,
  Tenure,
  TenureHappening,
} from "../../../src/infrastructure/locking/lock-backend";
import { slotsOver } from "../../../src/infrastructure/locking/slots/slot-search";

interface Held {
  readonly ownerId: string;
  readonly holder: LockHolder;
  readonly lost: AbortController;
}

/** A lock server in memory. Each backend made from it behaves as one process would. */
export class FakeLockServer {
  readonly held = new Map<string, Held>();
  readonly waiters = new Map<string, string>();
  readonly permits = new Map<string, number>();
  readonly listeners = new Map<string, Set<() => void>>();
  private fence = 0n;

  backend(name = "process-1"): FakeLockBackend {
    return new FakeLockBackend(this, name);
  }

  nextFence(): bigint {
    return (this.fence += 1n);
  }

  free(id: string, ownerId: string): void {
    if (this.held.get(id)?.ownerId !== ownerId) return;
    this.held.delete(id);
    for (const wake of this.listeners.get(id) ?? []) wake();
  }

  /** The lease ends, as after a stall: the owner is told, and the id is free. */
  expire(id: string, reason = "the lease ended"): void {
    const held = this.held.get(id);
    if (held === undefined) throw new Error(`${id} is not held`);
    this.held.delete(id);
    held.lost.abort(reason);
  }
}

export class FakeLockBackend implements LockBackend {
  readonly adapter = "fake";
  readonly attempts: (AttemptRequest & { readonly resourceId: string })[] = [];
  readonly left: string[] = [];
  isClosed = false;
  announcesReleases = true;
  /** What the next attempts meet before they reach the server, e.g. a failure or a gate. */
  beforeAttempt: () => Promise<void> | void = () => {};
  beforeRelease: () => Promise<void> | void = () => {};
  private tenures = 0;

  constructor(
    private readonly server: FakeLockServer,
    private readonly name: string,
  ) {}

  async attempt(resourceId: string, request: AttemptRequest): Promise<Attempt> {
    this.attempts.push({ resourceId, ...request });
    await this.beforeAttempt();
    const { held, waiters } = this.server;
    const inside = held.get(resourceId);
    if (inside !== undefined) {
      const waiting = waiters.get(resourceId);
      if (waiting !== undefined && waiting !== this.name)
        return { kind: "contended", waitingOwnerId: waiting, holder: inside.holder };
      if (request.mayWait) waiters.set(resourceId, this.name);
      return { kind: "held", holder: inside.holder };
    }
    if (waiters.get(resourceId) === this.name) waiters.delete(resourceId);
    return { kind: "acquired", tenure: this.enter(resourceId, request.purpose) };
  }

  onReleased(resourceId: string, wake: () => void): () => void {
    if (!this.announcesReleases) return () => {};
    const { listeners } = this.server;
    const wakes = listeners.get(resourceId) ?? new Set();
    listeners.set(resourceId, wakes.add(wake));
    return () => {
      wakes.delete(wake);
      if (wakes.size === 0) listeners.delete(resourceId);
    };
  }

  leave(resourceId: string): void {
    this.left.push(resourceId);
    if (this.server.waiters.get(resourceId) === this.name) this.server.waiters.delete(resourceId);
  }

  slots(semaphore: Semaphore): LockBackend {
    const { permits } = this.server;
    const agreed = {
      read: async (id: string) => permits.get(id) ?? null,
      replace: async (id: string, from: number | null, to: number) => {
        if ((permits.get(id) ?? null) !== from) return false;
        permits.set(id, to);
        return true;
      },
    };
    return slotsOver(this, agreed, semaphore);
  }

  async close(): Promise<void> {
    this.isClosed = true;
  }

  private enter(resourceId: string, purpose: string | undefined): Tenure {
    const ownerId = `${this.name}:${(this.tenures += 1)}`;
    const lost = new AbortController();
    const holder = { ownerId, ...(purpose !== undefined && { purpose }) };
    this.server.held.set(resourceId, { ownerId, holder, lost });
    const fencingToken = this.server.nextFence();
    return {
      fencingToken,
      lost: lost.signal,
      assertHeld: () => {
        if (this.server.held.get(resourceId)?.ownerId !== ownerId)
          throw new LockLostError(resourceId, String(lost.signal.reason ?? "released"));
      },
      release: async () => {
        await this.beforeRelease();
        this.server.free(resourceId, ownerId);
      },
      observe: (tell) => (this.tell = tell),
    };
  }

  /** For the tenure that was observed last. */
  tell: (happening: TenureHappening) => void = () => {};
}
