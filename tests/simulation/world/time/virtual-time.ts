import timersPromises from "node:timers/promises";
import { EventQueue, type QueuedEvent } from "../../lease/event-queue";
import type { SeededRandom } from "../../lease/seeded-random";

export const START_MS = Date.parse("2026-03-01T12:00:00.000Z");

/** Whose timers and answers these are: a process that can stand still, and that can be gone. */
export interface Owner {
  readonly name: string;
  isGone: boolean;
  frozenUntilMs: number;
}

interface Timer extends Writable<QueuedEvent> {
  readonly owner: Owner;
  readonly everyMs?: number;
}

type Writable<T> = { -readonly [Name in keyof T]: T[Name] };

const nextTurn = setImmediate;

/**
 * All time there is. While it is installed, every timer and clock that code takes from the runtime is one of this world, so that
 * nothing waits for real; what happens next is the first event in the queue, after everything that follows from the last
 * one without waiting has happened.
 */
export class VirtualTime {
  nowMs = 0;
  steps = 0;
  /** For whom code runs at the moment. */
  owner: Owner;
  private queue = new EventQueue();
  private order = 0;

  constructor(
    private readonly world: Owner,
    private readonly random: SeededRandom,
  ) {
    this.owner = world;
  }

  after(delayMs: number, run: () => void, owner: Owner, everyMs?: number): Timer {
    this.order += 1;
    const atMs = this.nowMs + Math.max(0, delayMs);
    const timer: Timer = {
      atMs,
      order: this.order,
      run,
      cancelled: false,
      owner,
      ...(everyMs !== undefined && { everyMs }),
    };
    this.queue.push(timer);
    return timer;
  }

  sleep(ms: number, owner: Owner): Promise<void> {
    return new Promise((resolve) => this.after(ms, resolve, owner));
  }

  /** Happens to the world itself, whoever is asleep or gone. */
  sleepOfWorld = (ms: number): Promise<void> => this.sleep(ms, this.world);

  /** Nothing is there meanwhile that could have done anything. */
  leap(ms: number): void {
    this.nowMs += ms;
  }

  /** Goes on until `work` is done; rejects if nothing is left that could bring it about. */
  run<T>(work: () => Promise<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      let isOver = false;
      const end = (settle: () => void): void => {
        isOver = true;
        settle();
      };
      this.owner = this.world;
      work().then(
        (value) => end(() => resolve(value)),
        (error: unknown) => end(() => reject(error instanceof Error ? error : new Error(String(error)))),
      );
      let idle = 0;
      const step = (): void => {
        if (isOver) return;
        // Once more after the last event: what follows from it may take another turn of the runtime.
        idle = this.step() ? 0 : idle + 1;
        if (idle > 3)
          end(() => reject(new Error("nothing is left to happen, and the world waits for something")));
        else nextTurn(step);
      };
      nextTurn(step);
    });
  }

  /** What owners that are there have planned. */
  planned(isMeant: (owner: Owner) => boolean): number {
    const kept = new EventQueue();
    let found = 0;
    for (
      let event = this.queue.pop() as Timer | undefined;
      event;
      event = this.queue.pop() as Timer | undefined
    ) {
      if (event.cancelled || event.owner.isGone) continue;
      if (isMeant(event.owner)) found += 1;
      kept.push(event);
    }
    this.queue = kept;
    return found;
  }

  private step(): boolean {
    for (;;) {
      const event = this.queue.pop() as Timer | undefined;
      if (event === undefined) return false;
      if (event.cancelled || event.owner.isGone) continue;
      const { owner } = event;
      if (owner.frozenUntilMs > Math.max(this.nowMs, event.atMs)) {
        event.atMs = owner.frozenUntilMs;
        this.queue.push(event);
        continue;
      }
      this.nowMs = Math.max(this.nowMs, event.atMs);
      this.steps += 1;
      this.owner = owner;
      event.run();
      if (event.everyMs !== undefined && !event.cancelled) {
        this.order += 1;
        this.queue.push(Object.assign(event, { atMs: this.nowMs + event.everyMs, order: this.order }));
      }
      return true;
    }
  }

  /** Returns how to give the runtime its own time back. */
  install(): () => void {
    const real = { ...timersPromises };
    const { setTimeout, clearTimeout, setInterval, clearInterval } = globalThis;
    const now = Date.now;
    const monotonic = performance.now;
    const chance = Math.random;
    const plan = (callback: (...args: unknown[]) => void, ms = 0, args: unknown[], isEvery: boolean) =>
      new Handle(this.after(ms, () => callback(...args), this.owner, isEvery ? Math.max(1, ms) : undefined));
    // Connections of `fetch` that an earlier test file left may close meanwhile: their timers are real ones, and if one
    // fires all the same, it throws.
    const cancel = (handle: Handle | NodeJS.Timeout): void => {
      if (handle instanceof Handle) handle.timer.cancelled = true;
      else clearTimeout(handle);
    };
    Object.assign(globalThis, {
      setTimeout: (callback: () => void, ms?: number, ...args: unknown[]) => plan(callback, ms, args, false),
      setInterval: (callback: () => void, ms?: number, ...args: unknown[]) => plan(callback, ms, args, true),
      clearTimeout: cancel,
      clearInterval: cancel,
    });
    Object.assign(timersPromises, { setTimeout: this.delay });
    Date.now = () => START_MS + Math.floor(this.nowMs);
    performance.now = () => this.nowMs;
    Math.random = () => this.random.next();
    return () => {
      Object.assign(globalThis, { setTimeout, clearTimeout, setInterval, clearInterval });
      Object.assign(timersPromises, real);
      Date.now = now;
      performance.now = monotonic;
      Math.random = chance;
    };
  }

  private readonly delay = (ms = 0, value?: unknown, options: { signal?: AbortSignal } = {}) =>
    new Promise((resolve, reject) => {
      const { signal } = options;
      const abort = (): void => {
        timer.cancelled = true;
        reject(new Error("aborted"));
      };
      const timer = this.after(
        ms,
        () => {
          signal?.removeEventListener("abort", abort);
          resolve(value);
        },
        this.owner,
      );
      if (signal?.aborted === true) abort();
      else signal?.addEventListener("abort", abort, { once: true });
    });
}

/** What `setTimeout` gives. */
class Handle {
  constructor(readonly timer: QueuedEvent) {}

  ref(): this {
    return this;
  }

  unref(): this {
    return this;
  }

  hasRef(): boolean {
    return true;
  }
}
