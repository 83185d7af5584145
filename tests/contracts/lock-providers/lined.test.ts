import { LinedLockProvider } from "../../../src/infrastructure/locking/line/lined-lock-provider";
import { describeLockProvider } from "../../../src/lock-contract";
import { FakeLockServer } from "../../support/fakes/fake-lock-backend";

describeLockProvider(
  { describe, it },
  {
    name: "LinedLockProvider over a reference backend",
    layers: [
      "lends",
      "hands out",
      "keeps callers apart",
      "can be tried",
      "keeps for a while",
      "elects",
      "lends slots",
      "honours its lease",
      "honours the lease of a slot",
    ],
    open: () => {
      const server = new FakeLockServer();
      const backend = server.backend();
      const locks = new LinedLockProvider(backend);
      const another = new LinedLockProvider(server.backend("process-2"));
      return {
        locks,
        leftovers: () => locks.size,
        close: async () => void (await Promise.all([locks.close(), another.close()])),
        lease: {
          another: () => another,
          lose: (id) => server.expire(id),
          failReleases: () =>
            void (backend.beforeRelease = () => Promise.reject(new Error("release failed"))),
        },
      };
    },
  },
);
