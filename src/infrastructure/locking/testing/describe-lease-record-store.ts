import type { TestFramework } from "../contract/describe-lock-provider";
import { keepsRecords } from "./keeps-records";
import type { LeaseRecordStoreUnderTest, RecordStoreTest } from "./record-store-test";
import { tellsTime } from "./tells-time";

/** More than any of them takes on a service that is slow. */
const TEST_LIMIT_MS = 60_000;

const really = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Registers each promise of the `LeaseRecordStore` port as a test of one store. */
export function describeLeaseRecordStore(
  { describe, it }: TestFramework,
  subject: LeaseRecordStoreUnderTest,
): void {
  describe(`the contract of lease record stores, kept by ${subject.name}`, () => {
    for (const test of [...keepsRecords, ...tellsTime])
      if (test.needsClock !== true || subject.hasClock === true)
        it(test.name, () => runInItsOwnWorld(test, subject), TEST_LIMIT_MS);
  });
}

async function runInItsOwnWorld(test: RecordStoreTest, subject: LeaseRecordStoreUnderTest): Promise<void> {
  const opened = await subject.open();
  try {
    await test.run({
      store: opened.store,
      another: opened.another,
      putText: (id, text) => opened.putText(id, text),
      pass: subject.pass ?? really,
      ageLagMs: subject.ageLagMs ?? 0,
    });
  } finally {
    await opened.close?.();
  }
}
