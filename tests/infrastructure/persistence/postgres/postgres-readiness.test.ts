import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client } from "pg";
import { PostgresPaymentRepository } from "../../../../src/infrastructure/persistence/postgres/postgres-payment-repository";
import { fillDisk } from "../../../support/fill-disk";
import { migratedPostgres } from "../../../support/servers/migrated-postgres";
import { mount, unmount } from "../../../support/mounts";
import { startOwnPostgres } from "../../../support/servers/own-postgres";
import type { OwnServer } from "../../../support/servers/own-redis";
import { authorizedPayment } from "../../../support/worlds/payments";
import { describeWithMounts, describeWithOwn } from "../../../support/servers/servers";

jest.setTimeout(120_000);

describeWithOwn("postgres", "a PostgreSQL store", () => {
  describeWithMounts("whose tables have no room left", () => {
    let folder: string;
    let server: OwnServer;

    beforeEach(async () => {
      folder = mkdtempSync(join(tmpdir(), "holdfast-tablespace-"));
      mount("-t", "tmpfs", "-o", "size=24m,mode=777", "tmpfs", folder);
      server = await startOwnPostgres();
      execFileSync("chown", ["postgres:", folder]);
    });
    afterEach(async () => {
      await server.stop();
      unmount(folder);
      rmSync(folder, { recursive: true });
    });

    it("a PostgreSQL store whose tables have no room left says so at a ping as soon as one payment was refused, and is ready again without any", async () => {
      const operator = new Client({ connectionString: server.url });
      await operator.connect();
      await operator.query(`CREATE TABLESPACE small LOCATION '${folder}'`);
      await operator.query("CREATE DATABASE payments TABLESPACE small");
      await operator.end();
      const url = server.url.replace(/postgres$/, "payments");
      const postgres = await migratedPostgres(url);
      try {
        const repository = new PostgresPaymentRepository(postgres);
        await repository.save(authorizedPayment(), "new");
        await repository.ping();
        const ballast = join(folder, "ballast");
        fillDisk(ballast);
        const long = {
          metadata: Object.fromEntries([...Array(20).keys()].map((n) => [`k${n}`, "x".repeat(400)])),
        };
        const refused = async (): Promise<unknown> => {
          for (let payment = 0; payment < 500; payment += 1)
            await repository.save(authorizedPayment(long), "new");
          return null;
        };
        await expect(refused()).rejects.toMatchObject({ reason: "full" });
        for (let second = 0; second < 3; second += 1) {
          await expect(repository.ping()).rejects.toMatchObject({ reason: "full" });
          await new Promise((resolve) => setTimeout(resolve, 1_050));
        }
        rmSync(ballast);
        await expect(repository.ping()).resolves.toBeUndefined();
        await repository.save(authorizedPayment(long), "new");
      } finally {
        await postgres.close();
      }
    });
  });
});
