// @ts-check
/** S3_FOLDER=https://…/test/ node contract.test.mjs: the promises of a record store, held against a store that you have. */
import { randomUUID } from "node:crypto";
import { describe, it } from "node:test";
import { describeLeaseRecordStore } from "holdfast/lock-testing";
import { S3LeaseRecordStore } from "./s3-records.mjs";

describeLeaseRecordStore(
  { describe, it: (name, body, timeout) => it(name, { timeout }, body) },
  {
    name: S3LeaseRecordStore.name,
    // Two times that are cut to whole seconds.
    ageLagMs: 2_000,
    open: () => {
      const folder = `${process.env["S3_FOLDER"]}${randomUUID()}/`;
      const store = new S3LeaseRecordStore(folder);
      return {
        store,
        another: new S3LeaseRecordStore(folder),
        putText: async (id, body) => void (await fetch(store.place(id), { method: "PUT", body })),
      };
    },
  },
);
