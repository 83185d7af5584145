import { NoOpLockProvider } from "../../../src/infrastructure/locking/none/no-op-lock-provider";
import { describeLockProvider } from "../../../src/lock-contract";
import { failedTests } from "../../support/failed-contract-tests";

const open = () => ({ locks: new NoOpLockProvider() });

describeLockProvider({ describe, it }, { name: "NoOpLockProvider", layers: ["lends", "hands out"], open });

it("NoOpLockProvider fails the layer that it does not claim", async () => {
  const failed = await failedTests("keeps callers apart", open);
  expect(failed).toContain("the provider serializes sections of one id");
  expect(failed).toContain(
    "the provider makes one attempt with timeout 0, and rejects with LockTimeoutError while somebody is inside",
  );
});
