import { createRequire } from "node:module";
import type * as IoRedis from "ioredis";

export type { Redis } from "ioredis";

/** Loaded on first use: who locks elsewhere never loads Redis's client. */
export function loadRedis(): typeof IoRedis.Redis {
  return (createRequire(__filename)("ioredis") as typeof IoRedis).Redis;
}
