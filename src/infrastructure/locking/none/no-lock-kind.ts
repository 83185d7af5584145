import type { LockKind } from "../lock-kind";
import { NoOpLockProvider } from "./no-op-lock-provider";

export const noLockKind: LockKind<object> = {
  open: (_address, settings) => ({ provider: new NoOpLockProvider(settings) }),
};
