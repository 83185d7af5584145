import { MemoryLockProvider } from "../../../src/infrastructure/locking/memory/memory-lock-provider";
import { describeLockProvider } from "../../../src/lock-contract";

describeLockProvider(
  { describe, it },
  {
    name: "MemoryLockProvider",
    layers: ["lends", "keeps callers apart"],
    open: () => {
      const locks = new MemoryLockProvider();
      return { locks, leftovers: () => locks.size };
    },
  },
);
