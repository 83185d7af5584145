import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** What is found out about a test file stays true until it, the sources, or what tests share, changes: kept between runs. */
export class Remembered<A> {
  private readonly folder = join(tmpdir(), "holdfast-mutation-remembered");
  private readonly shared: string;

  constructor(sandbox: string) {
    this.shared = ["src", "tests/support"].map((part) => digestOfFolder(join(sandbox, part))).join();
    mkdirSync(this.folder, { recursive: true });
  }

  async of(file: string, find: () => Promise<A>, isWorthIt: (found: A) => boolean): Promise<A> {
    const name = createHash("sha256")
      .update(`${this.shared} ${readFileSync(file, "utf8")}`)
      .digest("hex");
    const path = join(this.folder, `${name}.json`);
    try {
      return JSON.parse(readFileSync(path, "utf8")) as A;
    } catch {
      const found = await find();
      if (isWorthIt(found)) writeFileSync(path, JSON.stringify(found));
      return found;
    }
  }
}

function digestOfFolder(folder: string): string {
  const digest = createHash("sha256");
  const paths = readdirSync(folder, { recursive: true, encoding: "utf8" }).sort();
  for (const path of paths)
    if (statSync(join(folder, path)).isFile()) digest.update(path).update(readFileSync(join(folder, path)));
  return digest.digest("hex");
}
