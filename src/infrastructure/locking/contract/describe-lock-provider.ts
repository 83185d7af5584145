import {
  PATIENCE_MS,
  runLockContractTest,
  type LockContractLayer,
  type LockContractTest,
  type OpenedLocks,
} from "./contract-test";
import { answersInTime } from "./answers-in-time";
import { canBeTried } from "./can-be-tried";
import { elects } from "./elects";
import { handsOut } from "./hands-out";
import { honoursItsLease } from "./honours-its-lease";
import { honoursTheLeaseOfASlot } from "./slots/honours-the-lease-of-a-slot";
import { keepsForAWhile } from "./keeps-for-a-while";
import { outlastsItsProcess } from "./outlasts-its-process";
import { keepsCallersApart } from "./keeps-callers-apart";
import { keepsProcessesApart } from "./keeps-processes-apart";
import { keepsSlotsApart } from "./slots/keeps-slots-apart";
import { lends } from "./lends";
import { lendsSlots } from "./slots/lends-slots";
import { servesInTurn } from "./serves-in-turn";

/** The two functions that Jest, Vitest and node:test agree on. */
export interface TestFramework {
  readonly describe: (name: string, body: () => void) => unknown;
  readonly it: (name: string, body: () => Promise<void>, timeoutMs?: number) => unknown;
}

export interface LockProviderUnderTest {
  readonly name: string;
  readonly layers: readonly LockContractLayer[];
  /** Called once per test. */
  open(): OpenedLocks | Promise<OpenedLocks>;
  /** For what is bound to happen; default 10 s. A slow backend may need more. */
  readonly patienceMs?: number;
}

/** Every promise of the `LockProvider` port, as tests that can be run without a framework. */
export const lockContract: readonly LockContractTest[] = [
  ...lends,
  ...handsOut,
  ...keepsCallersApart,
  ...canBeTried,
  ...keepsForAWhile,
  ...elects,
  ...lendsSlots,
  ...keepsProcessesApart,
  ...keepsSlotsApart,
  ...outlastsItsProcess,
  ...honoursItsLease,
  ...honoursTheLeaseOfASlot,
  ...servesInTurn,
  ...answersInTime,
];

/** Registers the contract's tests for one provider. */
export function describeLockProvider({ describe, it }: TestFramework, subject: LockProviderUnderTest): void {
  const { patienceMs = PATIENCE_MS } = subject;
  describe(subject.name, () => {
    for (const layer of subject.layers)
      describe(layer, () => {
        for (const test of lockContract)
          if (test.layer === layer)
            it(test.name, () => runLockContractTest(test, () => subject.open(), patienceMs), patienceMs * 6);
      });
  });
}
