import { spawn } from "node:child_process";
import { startOwnPostgres } from "../tests/support/servers/own-postgres";
import { startOwnRedis, type OwnServer } from "../tests/support/servers/own-redis";
import { postgresAnswers, redisAnswers } from "../tests/support/servers/probes";
import { serverUrl } from "../tests/support/servers/server-availability";

/**
 * with-servers <command…>: runs a command with a PostgreSQL and a Redis in reach. Servers that answer already are used;
 * where none does, one is started in a temporary folder and ended afterwards.
 */
async function main(command: readonly string[]): Promise<number> {
  const [program, ...args] = command;
  if (program === undefined) throw new Error("usage: with-servers <command…>");
  const started: OwnServer[] = [];
  try {
    const urls = {
      HOLDFAST_TEST_POSTGRES_URL: serverUrl("postgres"),
      HOLDFAST_TEST_REDIS_URL: serverUrl("redis"),
    };
    if (!(await postgresAnswers(urls.HOLDFAST_TEST_POSTGRES_URL))) {
      const postgres = await startOwnPostgres({ max_connections: "200" });
      started.push(postgres);
      urls.HOLDFAST_TEST_POSTGRES_URL = postgres.url;
    }
    if (!(await redisAnswers(urls.HOLDFAST_TEST_REDIS_URL))) {
      const redis = await startOwnRedis();
      started.push(redis);
      urls.HOLDFAST_TEST_REDIS_URL = redis.url;
    }
    return await run(program, args, urls);
  } finally {
    for (const server of started) await server.stop();
  }
}

/** Not spawnSync: the servers write logs into pipes of ours, and would stand still once those are full. */
function run(program: string, args: readonly string[], urls: Record<string, string>): Promise<number> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { stdio: "inherit", env: { ...process.env, ...urls } });
    child.once("error", reject);
    child.once("exit", (status) => resolve(status ?? 1));
  });
}

void main(process.argv.slice(2)).then(
  (status) => (process.exitCode = status),
  (error: unknown) => {
    console.error(error);
    process.exitCode = 1;
  },
);
