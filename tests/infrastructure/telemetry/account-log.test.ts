import type { AccountSecrets } from "../../../src/application/ports/accounts/account-secrets";
import { SecretsKeyError } from "../../../src/application/ports/events/secret-box";
import { StoreUnavailableError } from "../../../src/application/ports/payment-repository";
import { LoggedAccountSecrets } from "../../../src/infrastructure/telemetry/account-log";

const WRONG = new SecretsKeyError("secrets_key_wrong", "it was sealed with another key: set it");

describe("the log of accounts that do not open", () => {
  let fails: Error | null;
  let lines: { readonly facts: object; readonly message: string }[];
  let secrets: AccountSecrets;

  beforeEach(() => {
    fails = WRONG;
    lines = [];
    const opened = async <T>(value: T): Promise<T> => {
      if (fails !== null) throw fails;
      return value;
    };
    secrets = new LoggedAccountSecrets(
      { keyOf: () => opened("sk_test_own"), webhookSecretsOf: () => opened(["whsec_own"]) },
      { error: (facts, message) => void lines.push({ facts, message }) },
    );
  });

  it("has one line for each account, with what to do, however often it is asked for", async () => {
    for (const account of ["acct_a", "acct_a", "acct_b", "acct_a"])
      await expect(secrets.keyOf(account)).rejects.toBe(WRONG);
    expect(lines.map(({ facts }) => facts)).toEqual([
      { event: "account_not_opened", account: "acct_a", code: "secrets_key_wrong" },
      { event: "account_not_opened", account: "acct_b", code: "secrets_key_wrong" },
    ]);
    expect(lines[0]?.message).toContain("it was sealed with another key: set it");
  });

  it("tells an account again that has opened meanwhile", async () => {
    await expect(secrets.keyOf("acct_a")).rejects.toBe(WRONG);
    fails = null;
    expect(await secrets.keyOf("acct_a")).toBe("sk_test_own");
    fails = WRONG;
    await expect(secrets.keyOf("acct_a")).rejects.toBe(WRONG);
    expect(lines).toHaveLength(2);
  });

  it("tells of webhook secrets in a line of their own, and what that means", async () => {
    await expect(secrets.keyOf("acct_a")).rejects.toBe(WRONG);
    await expect(secrets.webhookSecretsOf("acct_a")).rejects.toBe(WRONG);
    expect(lines.map(({ message }) => message.split(",")[0])).toEqual([
      "nothing is sent to this account",
      "events of this account's own endpoint are not taken",
    ]);
  });

  it("leaves a store that does not answer to those who tell of the store", async () => {
    fails = new StoreUnavailableError("away");
    await expect(secrets.keyOf("acct_a")).rejects.toBe(fails);
    expect(lines).toEqual([]);
  });
});
