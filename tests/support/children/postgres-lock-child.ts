import { PostgresLockProvider } from "../../../src/infrastructure/locking/postgres/postgres-lock-provider";
import { runLockChild } from "../../../src/lock-contract";

const [url = "", schema = ""] = process.argv.slice(2);
runLockChild(() => new PostgresLockProvider(url, { schema }));
