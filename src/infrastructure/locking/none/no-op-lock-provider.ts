// Excludes: nobody.
// Survives: everything; there is nothing to lose.
// Not for: anything but tests that ask what the other guards are worth, and a deliberate `--allow-unlocked`.
import { permitsOf } from "../../../application/locking/slots";
import type { LockHold, LockOptions, LockProvider } from "../../../application/ports/lock-provider";
import { announceHold } from "../hold/announce-hold";
import { lend } from "../hold/lend";
import { minimumHoldMs } from "../hold/minimum-hold";
import { lockSettings, type LockProviderSettings, type LockSettings } from "../lock-settings";
import { refuseReentry, runInside } from "../hold/reentrancy";
import { Wait } from "../line/wait";

/** Keeps the rest of the contract, so that code which would deadlock on a real lock is refused here too. */
export class NoOpLockProvider implements LockProvider {
  private readonly settings: LockSettings;
  private token = 0;

  constructor(settings: LockProviderSettings = {}) {
    this.settings = lockSettings("none", settings);
  }

  async withLock<T>(
    resourceId: string,
    criticalSection: (hold: LockHold) => T | PromiseLike<T>,
    options: LockOptions = {},
  ): Promise<T> {
    const outer = refuseReentry(this, resourceId, options);
    minimumHoldMs(options);
    // One for all holders, as every lock here.
    const slot = permitsOf(options) === undefined ? undefined : 1;
    const wait = new Wait(resourceId, options, this.settings);
    wait.succeed();
    const sinceMs = this.settings.clock.wallMs();
    // Over all ids: a provider that is not for production need not remember each of them.
    this.token = Math.max(this.token, Math.trunc(sinceMs)) + 1;
    const { purpose } = options;
    const hold = lend({ lender: this, resourceId, fencingToken: this.token, slot, sinceMs, purpose, wait });
    const over = announceHold(wait, hold);
    try {
      return await runInside(hold, outer, criticalSection);
    } finally {
      hold.end();
      over?.();
    }
  }
}
