import { AuthenticateCaller } from "../../src/application/use-cases/authenticate-caller";
import { ListedKeys } from "../support/listed-keys";
import { TestClock } from "../support/payments-world";

let keys: ListedKeys;
let clock: TestClock;
let authenticate: AuthenticateCaller;

beforeEach(() => {
  keys = new ListedKeys();
  clock = new TestClock();
  authenticate = new AuthenticateCaller(keys, clock);
});

const who = async (secret: string | null) => {
  try {
    const { merchant, operator, keyId } = await authenticate.execute(secret);
    return `${merchant}${operator ? " (operator)" : ""} by ${keyId ?? "nobody"}`;
  } catch (error) {
    return (error as { code: string }).code;
  }
};

test("until a key is created everybody is the operator of merchant default", async () => {
  expect(await who(null)).toBe("default (operator) by nobody");
  expect(await who("anything")).toBe("default (operator) by nobody");
});

test("a key acts for its merchant, and as an operator only if it is one", async () => {
  keys.add("a", "acme");
  keys.add("b", "other", true);
  expect(await who("a")).toBe("acme by key-1");
  expect(await who("b")).toBe("other (operator) by key-2");
  expect(await who("c")).toBe("unauthorized");
  expect(await who(null)).toBe("unauthorized");
});

test("the first key closes the door within a second, and revoking it does not open it", async () => {
  expect(await who(null)).toBe("default (operator) by nobody");
  keys.add("a", "acme");
  clock.advance(1_000);
  expect(await who(null)).toBe("unauthorized");
  expect(await who("a")).toBe("acme by key-1");
  keys.revoke("a");
  clock.advance(1_000);
  expect(await who("a")).toBe("unauthorized");
  expect(await who(null)).toBe("unauthorized");
});

test("a new key works at once, a revoked one for at most a second", async () => {
  keys.add("a", "acme");
  expect(await who("b")).toBe("unauthorized");
  keys.add("b", "acme");
  expect(await who("b")).toBe("acme by key-2");
  keys.revoke("b");
  clock.advance(999);
  expect(await who("b")).toBe("acme by key-2");
  clock.advance(1);
  expect(await who("b")).toBe("unauthorized");
});

test("a clock that is set back lets no key live longer", async () => {
  keys.add("a", "acme");
  expect(await who("a")).toBe("acme by key-1");
  keys.revoke("a");
  clock.advance(-60_000);
  expect(await who("a")).toBe("unauthorized");
});

test("a thousand requests in the same second ask the store once", async () => {
  keys.add("a", "acme");
  const all = await Promise.all(Array.from({ length: 1_000 }, () => who("a")));
  expect(new Set(all)).toEqual(new Set(["acme by key-1"]));
  expect(keys.lookups).toBe(1);
});

test("whether there is a key at all is asked until there is one, and never again", async () => {
  await who(null);
  await who(null);
  expect(keys.everAsked).toBe(1);
  keys.add("a", "acme");
  for (let second = 0; second < 5; second += 1) {
    clock.advance(1_000);
    await who("a");
  }
  expect(keys.everAsked).toBe(2);
});

test("a store that was down is asked again", async () => {
  keys.add("a", "acme");
  keys.down = true;
  expect(await who("a")).toBe("service_unavailable");
  keys.down = false;
  expect(await who("a")).toBe("acme by key-1");
  keys.down = true;
  expect(await who("b")).toBe("service_unavailable");
  keys.down = false;
  expect(await who("b")).toBe("unauthorized");
});
