import { MemoryLockProvider } from "../../../src/infrastructure/locking/memory/memory-lock-provider";
import { runLockChild } from "../../../src/lock-contract";

runLockChild(() => new MemoryLockProvider());
