import {
  lockContract,
  runLockContractTest,
  type LockContractLayer,
  type OpenedLocks,
} from "../../src/lock-contract";

/** What a provider in this process hangs on, it hangs on for ever: little patience saves time and changes no verdict. */
const PATIENCE_MS = 150;

/** The names of the layer's tests that this provider does not pass, of all or of those whose names have these words. */
export async function failedTests(
  layer: LockContractLayer,
  open: () => OpenedLocks,
  patienceMs = PATIENCE_MS,
  words = "",
): Promise<string[]> {
  const failed: string[] = [];
  const run = async (test: (typeof lockContract)[number]): Promise<void> => {
    try {
      await runLockContractTest(test, open, patienceMs);
    } catch {
      failed.push(test.name);
    }
  };
  const meant = lockContract.filter((test) => test.layer === layer && test.name.includes(words));
  await Promise.all(meant.map(run));
  return failed;
}
