import { execFile } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { promisify } from "node:util";
import { SqliteDatabase } from "../../src/infrastructure/persistence/sqlite/sqlite-database";
import { startedProgram } from "../support/program/built-program";
import { HoldfastProcess } from "../support/program/holdfast-process";
import { query } from "../support/servers/postgres-locks";
import { describeWithPostgres } from "../support/servers/servers";
import { isFinal, SteadyClient, type Answer } from "../support/program/steady-client";
import { temporaryDirectory } from "../support/worlds/temporary-directory";

jest.setTimeout(120_000);

const run = promisify(execFile);
const temporary = temporaryDirectory();
const LOOKS = 120;

interface Feed {
  readonly data: readonly object[];
  readonly nextCursor: string;
}

interface Moves {
  readonly moves: readonly { readonly kind: string }[];
}

/** The drill of docs/operations.md: a copy is made while the server works; the copy is then all there is. */
async function drill(store: string, backUpAndRestore: () => Promise<string>): Promise<void> {
  const main = await startedProgram();
  const client = new SteadyClient();
  const serve = (at: string) =>
    new HoldfastProcess([main, "serve", "--store", at, "--port", "0", "--log-level", "fatal"], {
      cwd: temporary.path,
    });
  const authorize = async (url: string, paymentMethod: string): Promise<string> => {
    const body = { amount: 1_000, currency: "EUR", paymentMethod };
    return (await client.post(url, "/payments", paymentMethod, body))!.paymentId;
  };
  const capture = (url: string, id: string): Promise<Answer | null> =>
    client.post(url, `/payments/${id}/capture`, "the-key", {});

  const feed = (url: string, after?: string) =>
    client.get<Feed>(url, `/events${after === undefined ? "" : `?after=${after}`}`);

  const before = serve(store);
  let after: HoldfastProcess | undefined;
  try {
    const url = await before.url();
    const captured = await authorize(url, "tok_ok");
    const open = await authorize(url, "tok_timeout_captured");
    const first = await capture(url, captured);
    expect(first?.status).toBe(201);
    expect((await capture(url, open))?.status).toBe(202);
    const kept = (await feed(url)).nextCursor;
    const restored = await backUpAndRestore();
    await authorize(url, "tok_refund_fails");
    const lost = (await feed(url)).nextCursor;
    await before.end("SIGKILL");

    after = serve(restored);
    const there = await after.url();
    expect((await capture(there, captured))?.said).toBe(first?.said);
    let last = await capture(there, open);
    for (let look = 0; look < LOOKS && (last === null || !isFinal(last)); look += 1) {
      await pause(last?.retryAfterMs ?? 250);
      last = await capture(there, open);
    }
    expect(last?.status).toBe(201);
    await authorize(there, "tok_timeout");
    // The same number of events as there were before, and another one at the place that is lost.
    expect((await feed(there, kept)).data).not.toEqual([]);
    expect(await feed(there, lost)).toMatchObject({ status: 400, code: "invalid_event_cursor" });
    for (const id of [captured, open]) {
      const { moves } = await client.get<Moves>(there, `/gateway/payments/${id}`);
      expect(moves.map(({ kind }) => kind)).toEqual(["authorize", "capture"]);
    }
  } finally {
    client.close();
    await before.end("SIGKILL");
    await after?.end("SIGKILL");
  }
}

it("a SQLite store is restored from a copy that was made while a server worked on it", async () => {
  const data = join(temporary.path, "data");
  const restored = join(temporary.path, "restored");
  await drill(`sqlite:${join(data, "holdfast.db")}`, async () => {
    mkdirSync(restored);
    for (const name of ["holdfast.db", "holdfast.gateway.db"]) {
      const database = await SqliteDatabase.open(join(data, name));
      database.execute(`VACUUM INTO '${join(restored, name)}'`);
      database.close();
    }
    return `sqlite:${join(restored, "holdfast.db")}`;
  });
});

describeWithPostgres("PostgreSQL", (server) => {
  let restored = "";
  afterEach(() => query(server.url, `DROP DATABASE IF EXISTS ${restored} WITH (FORCE)`));

  it("a PostgreSQL store is restored from a dump that was made while a server worked on it", async () => {
    const dump = join(temporary.path, "holdfast.dump");
    await drill(server.url, async () => {
      await run("pg_dump", ["--format=custom", `--file=${dump}`, `--dbname=${server.url}`]);
      const url = new URL(server.url);
      restored = `${url.pathname.slice(1)}_restored`;
      await query(server.url, `CREATE DATABASE ${restored}`);
      url.pathname = `/${restored}`;
      await run("pg_restore", ["--exit-on-error", "--no-owner", `--dbname=${url.href}`, dump]);
      return url.href;
    });
  });
});
