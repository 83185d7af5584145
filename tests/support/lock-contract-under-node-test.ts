import { describe, it } from "node:test";
import { InMemoryLockProvider } from "../../src/infrastructure/locking/in-memory-lock-provider";
import { NoOpLockProvider } from "../../src/infrastructure/locking/no-op-lock-provider";
import { describeLockProvider } from "../../src/lock-contract";

const locks = process.argv[2] === "good" ? new InMemoryLockProvider() : new NoOpLockProvider();

describeLockProvider(
  { describe, it },
  { name: "a provider", layers: ["lends", "keeps callers apart"], open: () => ({ locks }), patienceMs: 200 },
);
