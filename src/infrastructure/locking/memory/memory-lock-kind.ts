import type { LockKind } from "../lock-kind";
import { MemoryLockProvider } from "./memory-lock-provider";

export const memoryLockKind: LockKind<object> = {
  open(_address, settings) {
    const provider = new MemoryLockProvider(settings);
    return { provider, queues: provider };
  },
};
