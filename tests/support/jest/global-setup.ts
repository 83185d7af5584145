import { accessSync, constants, statfsSync } from "node:fs";
import { size } from "../test-size";
import { postgresAnswers, redisAnswers } from "../servers/probes";
import { answeringServers, serverUrl } from "../servers/server-availability";

/** A file system in memory, as most Linux systems have it: whoever makes each commit durable there waits for no disk. */
const QUICK_DISK = "/dev/shm";
const ENOUGH_BYTES = 2 ** 31;

/** Asks once per run which servers answer. Jest's workers inherit the answer through the environment. */
async function globalSetup(): Promise<void> {
  const urls = { postgres: serverUrl("postgres"), redis: serverUrl("redis") };
  const [postgres, redis] = await Promise.all([
    urls.postgres !== "none" && postgresAnswers(urls.postgres),
    urls.redis !== "none" && redisAnswers(urls.redis),
  ]);
  process.env[answeringServers] = [postgres && "postgres", redis && "redis"].filter(Boolean).join(",");
  if (size(false, isQuickDisk())) process.env["TMPDIR"] = QUICK_DISK;
}

function isQuickDisk(): boolean {
  try {
    accessSync(QUICK_DISK, constants.W_OK);
    const { bavail, bsize } = statfsSync(QUICK_DISK);
    return bavail * bsize >= ENOUGH_BYTES;
  } catch {
    return false;
  }
}

module.exports = globalSetup;
