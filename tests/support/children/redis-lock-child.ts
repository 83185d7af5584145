import { RedisLockProvider } from "../../../src/infrastructure/locking/lease/redis/redis-lock-provider";
import { runLockChild } from "../../../src/lock-contract";
import { QUICK_LEASE } from "../servers/gcs-locks";

const [url = "", keyPrefix = ""] = process.argv.slice(2);
runLockChild(() => new RedisLockProvider(url, { keyPrefix, lease: QUICK_LEASE }));
