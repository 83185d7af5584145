import type { KeyOwner } from "../../../src/application/ports/accounts/account-secrets";
import {
  ManageMerchantAccounts,
  type AccountRefusedError,
} from "../../../src/application/use-cases/manage-merchant-accounts";
import { parseMerchantId } from "../../../src/domain/identifiers";
import { InMemoryMerchantAccountStore } from "../../../src/infrastructure/persistence/memory/in-memory-merchant-account-store";
import { AesSecretBox } from "../../../src/infrastructure/secrets/aes-secret-box";
import { parseSecretsKeys } from "../../../src/infrastructure/secrets/secrets-keys";
import { anAct } from "../../support/an-act";
import { PaymentsWorld } from "../../support/worlds/payments-world";

const ACME = parseMerchantId("acme");
const KEY = "sk_of_acme";
const SERVER_KEY = "sk_of_the_server";
const found = (account: string): KeyOwner => ({ outcome: "found", account });

const { clock, context } = new PaymentsWorld();
const accounts = new InMemoryMerchantAccountStore();
const box = new AesSecretBox(() => parseSecretsKeys(Buffer.alloc(32, 1).toString("base64"), "test"));

/** `owner`: what the gateway says of the merchant's key; `ofServer`: of the server's own. */
function managed(owner: KeyOwner, ofServer: KeyOwner = found("acct_server")): ManageMerchantAccounts {
  const ask = async (key: string) => (key === SERVER_KEY ? ofServer : owner);
  return new ManageMerchantAccounts(accounts, clock, context.ids, async () => box, ask, SERVER_KEY);
}

const refusalOf = (attempt: Promise<unknown>): Promise<AccountRefusedError> =>
  attempt.then(
    () => {
      throw new Error("it was taken");
    },
    (error: AccountRefusedError) => error,
  );
const setKey = (by: ManageMerchantAccounts, named: string | null = null, key = KEY) =>
  by.setKey(ACME, { key }, named, anAct);

const silent: KeyOwner = { outcome: "unknown", reason: "timed out" };

test.each<[what: string, attempt: () => Promise<unknown>, refusal: string, message: RegExp]>([
  [
    "a key of another account than the one that is named",
    () => setKey(managed(found("acct_other")), "acct_acme"),
    "key_of_other_account",
    /^the key is that of acct_other, not of acct_acme: nothing was changed$/,
  ],
  [
    "a restricted key without a name",
    () => setKey(managed({ outcome: "not_said" })),
    "key_owner_not_said",
    /name its account, too$/,
  ],
  [
    "a key that the gateway refuses",
    () => setKey(managed({ outcome: "refused", reason: "expired" })),
    "key_refused",
    /^the gateway refuses the key \(expired\): nothing was changed$/,
  ],
  [
    "a key of which the gateway says nothing",
    () => setKey(managed(silent)),
    "key_owner_unknown",
    /^the gateway does not say whose the key is \(timed out\): nothing was changed, repeat the command later$/,
  ],
  [
    "any account while the gateway does not say which is the server's",
    () => managed(found("acct_acme"), silent).set(ACME, "acct_acme", anAct),
    "key_owner_unknown",
    /^the gateway does not say which account is the server's own \(timed out\): nothing was changed, repeat the command later$/,
  ],
  [
    "the server's own account",
    () => managed(found("acct_server")).set(ACME, "acct_server", anAct),
    "account_of_server",
    /^acct_server is the server's own account, .*nothing was changed\. .* by holdfast merchants unset$/,
  ],
  [
    "the server's own key",
    () => setKey(managed(silent), null, SERVER_KEY),
    "account_of_server",
    /^the key is that of the server's own account, /,
  ],
])("%s is not taken, and nothing is changed", async (_what, attempt, refusal, message) => {
  const error = await refusalOf(attempt());
  expect(error).toMatchObject({ name: "AccountRefusedError", refusal });
  expect(error.message).toMatch(message);
  expect([await accounts.list(), await accounts.known()]).toEqual([[], []]);
});

test("a key is taken whose account is the one that is named, or that may not be asked about and has a name", async () => {
  expect(await setKey(managed(found("acct_acme")), "acct_acme")).toMatchObject({
    account: "acct_acme",
    isApartFromServers: true,
  });
  expect(await setKey(managed({ outcome: "not_said" }, { outcome: "not_said" }), "acct_named")).toMatchObject(
    { account: "acct_named", isApartFromServers: false },
  );
});
