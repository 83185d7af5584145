import { LeaseLockProvider } from "../lease/lease-lock-provider";
import type * as recordsModule from "../lease/postgres/postgres-lease-record-store";
import type { NetworkLockKind } from "../lock-kind";
import type * as inspectorModule from "./postgres-lock-inspector";
import { PostgresLockProvider } from "./postgres-lock-provider";

/* eslint-disable @typescript-eslint/no-require-imports -- as in the catalogue: at once, and only when it is asked for. */
/** These bring the query builder along, which a lock by itself does without. */
const load = {
  inspector: () => require("./postgres-lock-inspector") as typeof inspectorModule,
  records: () => require("../lease/postgres/postgres-lease-record-store") as typeof recordsModule,
};
/* eslint-enable @typescript-eslint/no-require-imports */

export const postgresLockKind: NetworkLockKind<{ readonly url: string }> = {
  open({ url }, settings) {
    const provider = new PostgresLockProvider(url, settings);
    return {
      provider,
      queues: provider,
      wasReached: () => provider.hasConnected,
      probe: () => provider.probe(),
      close: () => provider.close(),
    };
  },

  async inspect({ url }) {
    const inspector = new (load.inspector().PostgresLockInspector)(url);
    return { inspector, close: () => inspector.close() };
  },

  async leases({ url }, options) {
    const records = new (load.records().PostgresLeaseRecordStore)({ url });
    const leases = new LeaseLockProvider(records, { ...options, adapter: "postgres-lease" });
    return {
      leases,
      async close() {
        await leases.close();
        await records.close();
      },
    };
  },
};
