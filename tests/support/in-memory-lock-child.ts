import { InMemoryLockProvider } from "../../src/infrastructure/locking/in-memory-lock-provider";
import { runLockChild } from "../../src/lock-contract";

runLockChild(() => new InMemoryLockProvider());
