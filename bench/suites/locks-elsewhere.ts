// What a lock costs that others have to be asked for: one caller after the other, each for an id of its own, elapsed time.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Redis } from "ioredis";
import { Client } from "pg";
import * as properLockfile from "proper-lockfile";
import Redlock from "redlock";
import { Mutex } from "redis-semaphore";
import { FileLockProvider } from "../../src/infrastructure/locking/file/file-lock-provider";
import { RedisLockProvider } from "../../src/infrastructure/locking/lease/redis/redis-lock-provider";
import { PostgresLockProvider } from "../../src/infrastructure/locking/postgres/postgres-lock-provider";
import { postgresAnswers, redisAnswers } from "../../tests/support/servers/probes";
import { serverUrl } from "../../tests/support/servers/server-availability";
import { elapsedMicroseconds } from "../measuring/cost";
import { compare, inMicroseconds, sideBySide, type Side } from "../measuring/side-by-side";
import type { Bench } from "../measuring/suite";
import { ownDatabase } from "../store/own-database";

const SUITE = "locks elsewhere";
const IDS = 100;

export async function locksElsewhere(bench: Bench): Promise<void> {
  if (await redisAnswers(serverUrl("redis"))) await inRedis(bench);
  else bench.leaveOut("locks in Redis", "no Redis answers");
  if (await postgresAnswers(serverUrl("postgres"))) await inPostgres(bench);
  else bench.leaveOut("locks in PostgreSQL", "no PostgreSQL answers");
  await inFiles(bench);
}

type Take = (id: string) => Promise<unknown>;

function cyclesOf(bench: Bench, take: Take): Side {
  const cycles = bench.size(500, 10);
  return () =>
    elapsedMicroseconds(cycles, async () => {
      for (let i = 0; i < cycles; i += 1) await take(`payment:${i % IDS}`);
    });
}

const section = async (): Promise<void> => {};

async function inRedis(bench: Bench): Promise<void> {
  const url = serverUrl("redis");
  const prefix = `holdfast-bench:${process.pid}:`;
  const ours = new RedisLockProvider(url, { keyPrefix: `${prefix}ours:` });
  const redis = new Redis(url);
  const redlock = new Redlock([redis]);
  const sides = {
    ours: cyclesOf(bench, (id) => ours.withLock(id, section)),
    semaphore: cyclesOf(bench, async (id) => {
      const mutex = new Mutex(redis, `${prefix}${id}`);
      await mutex.acquire();
      try {
        await section();
      } finally {
        await mutex.release();
      }
    }),
    redlock: cyclesOf(bench, (id) => redlock.using([`${prefix}${id}`], 30_000, section)),
  };
  try {
    const measured = await sideBySide(bench.size(15, 1), sides);
    const row = {
      suite: SUITE,
      work: "a cycle, Redis",
      ours: measured.ours,
      costs: true,
      show: inMicroseconds,
    };
    bench.report(compare({ ...row, against: "redis-semaphore", atLeast: 1, theirs: measured.semaphore }));
    bench.report(compare({ ...row, against: "redlock, one server", atLeast: 1, theirs: measured.redlock }));
  } finally {
    await ours.close();
    for await (const keys of redis.scanStream({ match: `${prefix}*`, count: 1_000 }))
      if ((keys as string[]).length > 0) await redis.del(keys as string[]);
    redis.disconnect();
  }
}

async function inPostgres(bench: Bench): Promise<void> {
  const database = await ownDatabase(serverUrl("postgres"));
  const ours = new PostgresLockProvider(database.url);
  const client = new Client({ connectionString: database.url });
  await client.connect();
  const sides = {
    ours: cyclesOf(bench, (id) => ours.withLock(id, section)),
    pair: cyclesOf(bench, async (id) => {
      const values = [Number(id.slice("payment:".length))];
      await client.query({ name: "take", text: "SELECT pg_advisory_lock($1)", values });
      try {
        await section();
      } finally {
        await client.query({ name: "give", text: "SELECT pg_advisory_unlock($1)", values });
      }
    }),
  };
  try {
    const measured = await sideBySide(bench.size(15, 1), sides);
    bench.report(
      compare({
        suite: SUITE,
        work: "a cycle, PostgreSQL",
        against: "pg_advisory_lock and pg_advisory_unlock, bare",
        atLeast: 0.8,
        ours: measured.ours,
        theirs: measured.pair,
        costs: true,
        show: inMicroseconds,
      }),
    );
  } finally {
    await client.end();
    await ours.close();
    await database.drop();
  }
}

async function inFiles(bench: Bench): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "holdfast-bench-locks-"));
  const ours = new FileLockProvider(join(folder, "ours"));
  for (let i = 0; i < IDS; i += 1) writeFileSync(join(folder, `payment:${i}`), "");
  const sides = {
    ours: cyclesOf(bench, (id) => ours.withLock(id, section)),
    properLockfile: cyclesOf(bench, async (id) => {
      const release = await properLockfile.lock(join(folder, id));
      try {
        await section();
      } finally {
        await release();
      }
    }),
  };
  try {
    const measured = await sideBySide(bench.size(15, 1), sides);
    bench.report(
      compare({
        suite: SUITE,
        work: "a cycle, files of one host",
        against: "proper-lockfile",
        atLeast: 5,
        ours: measured.ours,
        theirs: measured.properLockfile,
        costs: true,
        show: inMicroseconds,
      }),
    );
  } finally {
    await ours.close();
    rmSync(folder, { recursive: true });
  }
}
