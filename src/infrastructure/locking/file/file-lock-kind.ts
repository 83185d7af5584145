import type { HostLockKind } from "../lock-kind";
import { FileLockProvider, type FileLockOptions } from "./file-lock-provider";
import { FileLockInspector } from "./inspection/file-lock-inspector";

export const fileLockKind: HostLockKind<{ readonly directory: string } & Pick<FileLockOptions, "mode">> = {
  open({ directory, mode }, settings) {
    const provider = new FileLockProvider(directory, { ...settings, ...(mode && { mode }) });
    return {
      provider,
      queues: provider,
      tenureOf: (resourceId) => provider.tenureOf(resourceId),
      close: () => provider.close(),
    };
  },

  /** Its audit lies beside the locks themselves. */
  inspect: async ({ directory }) => ({ inspector: new FileLockInspector(directory) }),
};
