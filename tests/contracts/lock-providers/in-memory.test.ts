import { MemoryLockProvider } from "../../../src/infrastructure/locking/memory/memory-lock-provider";
import { describeLockProvider } from "../../../src/lock-contract";

describeLockProvider(
  { describe, it },
  {
    name: "MemoryLockProvider",
    layers: [
      "lends",
      "hands out",
      "keeps callers apart",
      "can be tried",
      "keeps for a while",
      "elects",
      "lends slots",
    ],
    open: () => {
      const locks = new MemoryLockProvider();
      return { locks, leftovers: () => locks.size };
    },
  },
);
