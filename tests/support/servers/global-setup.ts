import { postgresAnswers, redisAnswers } from "./probes";
import { answeringServers, serverUrl } from "./server-availability";

/** Asks once per run which servers answer. Jest's workers inherit the answer through the environment. */
async function globalSetup(): Promise<void> {
  const urls = { postgres: serverUrl("postgres"), redis: serverUrl("redis") };
  const [postgres, redis] = await Promise.all([
    urls.postgres !== "none" && postgresAnswers(urls.postgres),
    urls.redis !== "none" && redisAnswers(urls.redis),
  ]);
  process.env[answeringServers] = [postgres && "postgres", redis && "redis"].filter(Boolean).join(",");
}

module.exports = globalSetup;
