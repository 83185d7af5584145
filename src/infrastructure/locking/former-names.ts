import { GcsLockProvider, type GcsLockOptions } from "./lease/gcs/gcs-lock-provider";
import type { LeaseLockOptions } from "./lease/lease-lock-provider";
import { RedisLockProvider, type RedisLockOptions } from "./lease/redis/redis-lock-provider";
import { MemoryLockProvider } from "./memory/memory-lock-provider";

/** @deprecated Use `MemoryLockProvider`: this name goes with the next version. */
export const InMemoryLockProvider = MemoryLockProvider;
/** @deprecated Use `MemoryLockProvider`: this name goes with the next version. */
export type InMemoryLockProvider = MemoryLockProvider;

/** @deprecated Use `RedisLockProvider`: this name goes with the next version. */
export const RedisLeaseLockProvider = RedisLockProvider;
/** @deprecated Use `RedisLockProvider`: this name goes with the next version. */
export type RedisLeaseLockProvider = RedisLockProvider;
/** @deprecated Use `RedisLockOptions`: this name goes with the next version. */
export type RedisLeaseLockProviderOptions = RedisLockOptions;

/** @deprecated Use `GcsLockProvider`: this name goes with the next version. */
export const GcsLeaseLockProvider = GcsLockProvider;
/** @deprecated Use `GcsLockProvider`: this name goes with the next version. */
export type GcsLeaseLockProvider = GcsLockProvider;
/** @deprecated Use `GcsLockOptions`: this name goes with the next version. */
export type GcsLeaseLockProviderOptions = GcsLockOptions;

/** @deprecated Use `LeaseLockOptions`: this name goes with the next version. */
export type LeaseLockProviderOptions = LeaseLockOptions;
