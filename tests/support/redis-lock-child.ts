import { RedisLeaseLockProvider } from "../../src/infrastructure/locking/lease/redis-lease-lock-provider";
import { runLockChild } from "../../src/lock-contract";
import { QUICK_LEASE } from "./gcs-locks";

const [url = "", keyPrefix = ""] = process.argv.slice(2);
runLockChild(() => new RedisLeaseLockProvider(url, { keyPrefix, lease: QUICK_LEASE }));
