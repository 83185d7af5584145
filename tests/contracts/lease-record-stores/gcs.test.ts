import { GcsLeaseRecordStore } from "../../../src/infrastructure/locking/lease/gcs/gcs-lease-record-store";
import { openGcsWorld, whenNotThrottled } from "../../support/servers/gcs-locks";
import { describeLeaseRecordStoreContract } from "./lease-record-store-contract";

// The service itself takes one change per second and object.
if (process.env["HOLDFAST_TEST_GCS"] === "1") jest.setTimeout(120_000);

describeLeaseRecordStoreContract({
  name: GcsLeaseRecordStore.name,
  open: async () => {
    const world = await openGcsWorld();
    return {
      store: asking(world.provider().records),
      another: asking(world.provider().records),
      place: (id) => `${world.location}/${id}.json`,
      putText: (id, text) => world.put(id, text),
      close: () => world.close(),
    };
  },
  // The time of an answer is cut to whole seconds.
  ageLagMs: 1_000,
  hasClock: true,
});

/** The same store, for a service that says 429: asked again, as the protocol would. */
function asking(store: GcsLeaseRecordStore): GcsLeaseRecordStore {
  const [write, remove] = [store.write.bind(store), store.remove.bind(store)];
  store.write = (...request) => whenNotThrottled(() => write(...request));
  store.remove = (...request) => whenNotThrottled(() => remove(...request));
  return store;
}
