import { InMemoryLockProvider } from "../../../src/infrastructure/locking/in-memory-lock-provider";
import { describeLockProvider } from "../../../src/lock-contract";

describeLockProvider(
  { describe, it },
  {
    name: "InMemoryLockProvider",
    layers: ["lends", "keeps callers apart"],
    open: () => {
      const locks = new InMemoryLockProvider();
      return { locks, leftovers: () => locks.size };
    },
  },
);
