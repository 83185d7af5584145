import { describe, it } from "node:test";
import { MemoryLockProvider } from "../../../src/infrastructure/locking/memory/memory-lock-provider";
import { NoOpLockProvider } from "../../../src/infrastructure/locking/none/no-op-lock-provider";
import { describeLockProvider } from "../../../src/lock-contract";

const isGood = process.argv[2] === "good";
const locks = isGood ? new MemoryLockProvider() : new NoOpLockProvider();

describeLockProvider(
  { describe, it },
  {
    name: "a provider",
    layers: ["lends", "keeps callers apart"],
    open: () => ({ locks }),
    patienceMs: isGood ? 10_000 : 200,
  },
);
