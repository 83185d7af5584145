import type { LookupAddress } from "node:dns";
import { GuardedDestinations } from "../../../src/infrastructure/webhooks/guarded-destinations";
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

test("a look-up that fails is told as it failed", async () => {
  const failure = Object.assign(new Error("try again"), { code: "EAI_AGAIN" });
  const lookup = guardedLookup(CLOSED, (_host, done) => done(failure, []));
  const [error] = await new Promise<unknown[]>((resolve) => {
    lookup("hooks.example.com", { all: true }, (...handed: unknown[]) => resolve(handed));
  });
  expect(error).toBe(failure);
});

describe("an endpoint that is to be registered", () => {
  const URL_OF_IT = "https://hooks.example.com/in";
  beforeEach(() => jest.useFakeTimers());
  afterEach(() => jest.useRealTimers());

  test("is taken where no name server answers in time: each attempt asks again", async () => {
    const asked = new GuardedDestinations(CLOSED, () => undefined).assertAllowed(URL_OF_IT);
    await jest.advanceTimersByTimeAsync(2_000);
    await expect(asked).resolves.toBe(URL_OF_IT);
  });

  test("is taken as soon as a name server has answered, and nothing is left to wait for", async () => {
    const allowed = new GuardedDestinations(CLOSED, (_host, done) => done(null, PUBLIC));
    await expect(allowed.assertAllowed(URL_OF_IT)).resolves.toBe(URL_OF_IT);
    expect(jest.getTimerCount()).toBe(0);
  });
});
