// Excludes: nobody.
// Survives: everything; there is nothing to lose.
// Not for: anything but tests that ask what the other guards are worth, and a deliberate `--allow-unlocked`.
import type { LockHold, LockOptions, LockProvider } from "../../application/ports/lock-provider";
import { announceHold } from "./announce-hold";
import { FencingCounter } from "./fencing-counter";
import { Hold } from "./hold";
import { lockSettings, type LockProviderSettings, type LockSettings } from "./lock-settings";
import { refuseReentry, runInside } from "./reentrancy";
import { Wait } from "./wait";

/** Keeps the rest of the contract, so that code which would deadlock on a real lock is refused here too. */
export class NoOpLockProvider implements LockProvider {
  private readonly settings: LockSettings;
  private readonly fencing = new FencingCounter();

  constructor(settings: LockProviderSettings = {}) {
    this.settings = lockSettings("none", settings);
  }

  async withLock<T>(
    resourceId: string,
    criticalSection: (hold: LockHold) => Promise<T>,
    options: LockOptions = {},
  ): Promise<T> {
    refuseReentry(this, resourceId, options);
    const wait = new Wait(resourceId, options, this.settings);
    wait.succeed();
    const sinceMs = this.settings.clock.wallMs();
    const token = this.fencing.next(sinceMs);
    const hold = new Hold(this, resourceId, token, 0, undefined, sinceMs, options.purpose, undefined);
    const over = announceHold(wait, hold);
    try {
      return await runInside(hold, criticalSection);
    } finally {
      hold.end();
      over?.();
    }
  }
}
