import {
  lockContract,
  runLockContractTest,
  type LockContractLayer,
  type OpenedLocks,
} from "../../src/lock-contract";

/** What a provider in this process hangs on, it hangs on for ever: little patience saves time and changes no verdict. */
const PATIENCE_MS = 150;

/** The names of the layer's tests that this provider does not pass. */
export async function failedTests(
  layer: LockContractLayer,
  open: () => OpenedLocks,
  patienceMs = PATIENCE_MS,
): Promise<string[]> {
  const failed: string[] = [];
  const run = async (test: (typeof lockContract)[number]): Promise<void> => {
    try {
      await runLockContractTest(test, open, patienceMs);
    } catch {
      failed.push(test.name);
    }
  };
  await Promise.all(lockContract.filter((test) => test.layer === layer).map(run));
  return failed;
}
