import { describeLockProvider } from "../../../src/lock-contract";
import { FaultyLockProvider } from "../../../src/lock-testing";

describeLockProvider(
  { describe, it },
  {
    name: `${FaultyLockProvider.name}, as long as nothing is ordered`,
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
      const locks = new FaultyLockProvider();
      return { locks, leftovers: () => locks.size, close: () => locks.close() };
    },
  },
);
