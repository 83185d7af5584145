import type { LookupAddress } from "node:dns";
import {
  guardedLookup,
  type AddressForbiddenError,
} from "../../../src/infrastructure/webhooks/guarded-lookup";

const CLOSED = { http: false, private: false };
const PUBLIC: readonly LookupAddress[] = [
  { address: "93.184.216.34", family: 4 },
  { address: "2606:4700::1111", family: 6 },
];

/** What a connection is handed. */
function lookedUp(addresses: readonly LookupAddress[], all: boolean): Promise<unknown[]> {
  const lookup = guardedLookup(CLOSED, (_host, done) => done(null, addresses));
  return new Promise((resolve) => {
    lookup("hooks.example.com", { all }, (...handed: unknown[]) => resolve(handed));
  });
}

test("a connection is handed the first address, or all if it asks for all", async () => {
  expect(await lookedUp(PUBLIC, false)).toEqual([null, "93.184.216.34", 4]);
  expect(await lookedUp(PUBLIC, true)).toEqual([null, PUBLIC]);
});

test("it is handed none if one of them is not allowed, and is told which", async () => {
  const [error, address] = await lookedUp([...PUBLIC, { address: "10.0.0.1", family: 4 }], true);
  expect((error as AddressForbiddenError).code).toBe("ADDRESS_FORBIDDEN");
  expect((error as Error).message).toMatch(/^hooks\.example\.com leads to 10\.0\.0\.1, which is /);
  expect(address).toBe("");
});

test("a name without an address is told as such", async () => {
  const [error] = await lookedUp([], false);
  expect(error).toMatchObject({ code: "ENOTFOUND", message: "hooks.example.com has no address" });
});
