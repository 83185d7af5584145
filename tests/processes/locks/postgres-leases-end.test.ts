import { tmpdir } from "node:os";
import { dirname } from "node:path";
import { builtProgram } from "../../support/program/built-program";
import { HoldfastProcess } from "../../support/program/holdfast-process";
import { describeWithPostgres } from "../../support/servers/servers";

jest.setTimeout(120_000);
/** The pool lets its idle connections go after 10 s. */
const ENDS_WITHIN_MS = 30_000;

/** Has waited, so that there is a session that hears of releases, and closes the provider but not the store. */
const SCRIPT = `
  const { LeaseLockProvider, PostgresLeaseRecordStore } = require(process.argv[1]);
  const make = () => new LeaseLockProvider(new PostgresLeaseRecordStore({ url: process.argv[2] }));
  const [one, two] = [make(), make()];
  const inside = one.withLock("a", () => new Promise((resolve) => setTimeout(resolve, 1_000)));
  setTimeout(async () => {
    await two.withLock("a", () => console.error("waited"));
    await inside;
    await Promise.all([one.close(), two.close()]);
    console.error("closed");
  }, 500);
`;

describeWithPostgres("a process with leases in PostgreSQL", (server) => {
  test("a process with leases in PostgreSQL ends by itself once its providers are closed, whoever closes the store", async () => {
    const locks = `${dirname(await builtProgram())}/locks.js`;
    const child = new HoldfastProcess(["-e", SCRIPT, locks, server.url], { cwd: tmpdir() });
    const limit = setTimeout(() => child.signal("SIGKILL"), ENDS_WITHIN_MS);
    await child.said(/^closed/);
    const { status, signal, stderr } = await child.ended.finally(() => clearTimeout(limit));
    expect({ status, signal }).toEqual({ status: 0, signal: null });
    expect(stderr).toContain("waited");
  });
});
