import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A directory for each test, gone after it. */
export function temporaryDirectory(): { readonly path: string } {
  let path = "";
  beforeEach(() => {
    path = mkdtempSync(join(tmpdir(), "holdfast-file-lock-"));
  });
  afterEach(() => rmSync(path, { recursive: true, force: true }));
  return {
    get path() {
      return path;
    },
  };
}
