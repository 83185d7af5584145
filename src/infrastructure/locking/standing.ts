import type { LockHolder } from "../../application/ports/lock-provider";
import type { Hold } from "./hold";

/** What is known about one id at the moment, gathered by whoever is in front, for all who wait. */
export class Standing {
  /** The caller of this process who is inside. */
  hold: Hold | undefined;
  /** Who was inside at the last answer, if it was somebody else. */
  holder: LockHolder | undefined;
  advice: string | undefined;
  /** Why the last attempt got no answer. */
  failure: unknown;

  /** `contendedAtMs`: when somebody was last seen inside, on the monotonic clock. */
  constructor(public contendedAtMs = -Infinity) {}

  whoIsInside(): LockHolder | undefined {
    return this.hold?.describe() ?? this.holder;
  }

  wasContendedSince(startedMs: number): boolean {
    return this.hold !== undefined || this.contendedAtMs >= startedMs;
  }
}
