import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { FileLockProvider } from "../../../src/infrastructure/locking/file/file-lock-provider";
import { describeLockProvider } from "../../../src/lock-contract";
import { typescriptChild } from "../../support/children/typescript-child";

describe.each(["kernel", "exclusive-create"] as const)("in %s mode", (mode) => {
  describeLockProvider(
    { describe, it },
    {
      name: "FileLockProvider",
      layers: [
        "lends",
        "hands out",
        "keeps callers apart",
        "can be tried",
        "keeps for a while",
        "elects",
        "lends slots",
        "keeps processes apart",
        "keeps slots apart",
      ],
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
