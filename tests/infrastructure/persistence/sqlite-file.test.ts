import { chmodSync, readdirSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { SqliteGatewayLedger } from "../../../src/infrastructure/gateways/simulated/sqlite-gateway-ledger";
import { openMigrated } from "../../support/temporary-sqlite";
import { temporaryDirectory } from "../../support/temporary-directory";

const folder = temporaryDirectory();
const place = () => join(folder.path, "holdfast.db");
const modeOf = (path: string) => (statSync(path).mode & 0o777).toString(8);

describe("a SQLite file that is made", () => {
  it("is its user's alone, and so is what SQLite puts beside it", async () => {
    const sqlite = await openMigrated(place());
    try {
      const names = ["holdfast.db", "holdfast.db-shm", "holdfast.db-wal"];
      expect(readdirSync(folder.path).sort()).toEqual(names);
      expect(names.map((name) => modeOf(join(folder.path, name)))).toEqual(["600", "600", "600"]);
    } finally {
      sqlite.close();
    }
  });

  it("is its user's alone where a link to it was there first", async () => {
    const target = join(folder.path, "elsewhere.db");
    symlinkSync(target, place());
    (await openMigrated(place())).close();
    expect(modeOf(target)).toBe("600");
  });

  it("is its user's alone as the simulated gateway's memory, too", async () => {
    (await SqliteGatewayLedger.open(place())).close();
    expect(modeOf(place())).toBe("600");
  });

  it("keeps the mode that somebody gave it", async () => {
    writeFileSync(place(), "");
    chmodSync(place(), 0o640);
    (await openMigrated(place())).close();
    expect(modeOf(place())).toBe("640");
  });
});
