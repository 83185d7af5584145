import { LeaseLockProvider } from "../../../src/infrastructure/locking/lease/lease-lock-provider";
import { PostgresLeaseRecordStore } from "../../../src/infrastructure/locking/lease/postgres/postgres-lease-record-store";
import { runLockChild } from "../../../src/lock-contract";
import { QUICK_LEASE } from "../servers/gcs-locks";

const [url = "", schema = ""] = process.argv.slice(2);
runLockChild(
  () => new LeaseLockProvider(new PostgresLeaseRecordStore({ url, schema }), { lease: QUICK_LEASE }),
);
