import { GcsLeaseRecordStore } from "../../../src/infrastructure/locking/lease/gcs-lease-record-store";
import { gcsObjectName } from "../../../src/infrastructure/locking/lease/gcs-object-name";
import { GcsStandIn } from "../../support/gcs-stand-in/gcs-stand-in";
import { describeLeaseRecordStoreContract } from "./lease-record-store-contract";

const PREFIX = "jobs/";

let nowMs: number;

describeLeaseRecordStoreContract({
  name: GcsLeaseRecordStore.name,
  open: async () => {
    nowMs = Date.UTC(2030, 0, 1, 0, 0, 0, 750);
    const standIn = await GcsStandIn.start({
      buckets: ["locks"],
      now: () => nowMs,
      generations: "shuffled",
    });
    const store = () =>
      new GcsLeaseRecordStore({ bucket: "locks", prefix: PREFIX, emulatorHost: standIn.url });
    return {
      store: store(),
      another: store(),
      putText: (id, text) => {
        const content = Buffer.from(text);
        standIn.state.insert("locks", gcsObjectName(PREFIX, id), content, {
          contentType: "application/json",
        });
      },
      close: () => standIn.close(),
    };
  },
  // The service's answers carry whole seconds.
  ageLagMs: 1_000,
  pass: (ms) => {
    nowMs += ms;
    return Promise.resolve();
  },
});
