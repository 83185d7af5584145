import { AuthenticateCaller } from "../../src/application/use-cases/authenticate-caller";
import { ListedKeys } from "../support/listed-keys";

let keys: ListedKeys;
let authenticate: AuthenticateCaller;

beforeEach(() => {
  keys = new ListedKeys();
  authenticate = new AuthenticateCaller(keys);
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

test("the first key closes the door, and revoking it does not open it", async () => {
  expect(await who(null)).toBe("default (operator) by nobody");
  keys.add("a", "acme");
  expect(await who(null)).toBe("unauthorized");
  expect(await who("a")).toBe("acme by key-1");
  keys.revoke("a");
  expect(await who("a")).toBe("unauthorized");
  expect(await who(null)).toBe("unauthorized");
});

test("a caller is not let in while the store is down", async () => {
  keys.down = true;
  expect(await who("a")).toBe("service_unavailable");
  expect(await who(null)).toBe("service_unavailable");
});
