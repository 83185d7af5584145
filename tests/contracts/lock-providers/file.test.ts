import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { FileLockProvider } from "../../../src/infrastructure/locking/file/file-lock-provider";
import { describeLockProvider, type LockProviderUnderTest } from "../../../src/lock-contract";
import { typescriptChild } from "../../support/children/typescript-child";
import { size } from "../../support/test-size";

const ofProcesses = ["lends", "keeps processes apart", "keeps slots apart"] as const;
const all = [
  "hands out",
  "keeps callers apart",
  "can be tried",
  "keeps for a while",
  "elects",
  "lends slots",
  ...ofProcesses,
] as const;

// The modes differ in what other processes see: in brief, one of them shows what callers of one process are promised.
describe.each(["kernel", "exclusive-create"] as const)("in %s mode", (mode) => {
  describeLockProvider(
    { describe, it },
    {
      name: "FileLockProvider",
      layers: mode === "kernel" ? all : size<LockProviderUnderTest["layers"]>(all, ofProcesses),
      open: async () => {
        const directory = mkdtempSync(join(tmpdir(), "holdfast-file-contract-"));
        const locks = new FileLockProvider(directory, { mode });
        // Binds the directory before a child comes that is told no mode.
        await locks.withLock("first", async () => {});
        return {
          locks,
          leftovers: () => locks.size,
          child: typescriptChild("file-lock-child.ts", directory),
          close: async () => {
            await locks.close();
            rmSync(directory, { recursive: true });
          },
        };
      },
    },
  );
});
