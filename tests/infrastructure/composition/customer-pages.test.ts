import { Closers } from "../../../src/infrastructure/composition/opening/closers";
import { openGateway } from "../../../src/infrastructure/composition/opening/open-gateway";
import { readConfiguration } from "../../../src/infrastructure/configuration/configuration";
import { InMemoryGatewayLedger } from "../../../src/infrastructure/gateways/simulated/ledgers/in-memory-gateway-ledger";
import { SystemClock } from "../../../src/infrastructure/time/system-clock";

const open = (host: string) =>
  openGateway(readConfiguration({ flags: { host, store: "memory:" }, environment: {} }), {
    clock: new SystemClock(),
    openLedger: async () => new InMemoryGatewayLedger(),
    accounts: { keyOf: async () => null, webhookSecretsOf: async () => [] },
    closers: new Closers(),
  });

it.each(["127.0.0.1", "::1", "localhost"])(
  "a server that listens on %s has pages for customers",
  async (host) => {
    expect((await open(host)).customerPages).toBeDefined();
  },
);

it.each(["0.0.0.0", "::", "10.0.0.7"])(
  "a server that listens on %s has no pages for customers",
  async (host) => {
    expect((await open(host)).customerPages).toBeUndefined();
  },
);
