import type { MerchantId } from "../../domain/identifiers";
import { entryOf, type Act } from "../audit/act";
import { boundTo } from "../accounts/sealed-accounts";
import type { AskKeyOwner } from "../ports/accounts/account-secrets";
import type { MerchantAccountStore } from "../ports/accounts/merchant-account-store";
import type { Clock } from "../ports/clock";
import type { AuditEntry } from "../ports/audit/audit-trail";
import type { IdGenerator } from "../ports/id-generator";
import type { SecretBox } from "../ports/events/secret-box";

/** What an account is opened with. Never shown again. */
export interface GivenSecrets {
  readonly key: string;
  /** Left out: those that there are stay. */
  readonly webhookSecrets?: readonly string[];
}

/** A merchant's account as it may be shown: what opens it, and nothing of the secrets. */
export interface ShownAccount {
  readonly merchant: MerchantId;
  readonly account: string;
  readonly setAt: Date;
  /** Whose key requests are made with: the account's own, or that of the server, to which the account is connected. */
  readonly access: "own_key" | "connected";
  /** The account has a webhook endpoint of its own, whose secrets are known. */
  readonly hasWebhookSecrets: boolean;
}

export interface SetAccount extends ShownAccount {
  /** The gateway has said that this is not the server's own account. False where it could not be asked, or does not say. */
  readonly isApartFromServers: boolean;
}

export type AccountRefusal =
  "key_refused" | "key_owner_unknown" | "key_owner_not_said" | "key_of_other_account" | "account_of_server";

/** An account that is not taken: it is not certain that the key opens it, or it is that of all merchants. */
export class AccountRefusedError extends Error {
  override readonly name = "AccountRefusedError";

  constructor(
    readonly refusal: AccountRefusal,
    message: string,
  ) {
    super(message);
  }
}

/** Says where a merchant's next payments go, and what opens it. Payments that have begun stay where they are. */
export class ManageMerchantAccounts {
  constructor(
    private readonly accounts: MerchantAccountStore,
    private readonly clock: Clock,
    private readonly ids: IdGenerator,
    private readonly boxToSeal: () => Promise<SecretBox>,
    private readonly askKeyOwner: AskKeyOwner,
    /** Of the common account; null: not known here. */
    private readonly serverKey: string | null,
  ) {}

  /** Connected to the server's own account. Rejects with `AccountRefusedError`. */
  async set(merchant: MerchantId, account: string, act: Act): Promise<SetAccount> {
    const isApartFromServers = await this.isApartFromServers(account);
    return { ...(await this.kept(merchant, account, act)), isApartFromServers };
  }

  /**
   * In the account that the key opens: the gateway says which, or `named` does where the key may not ask. All that was begun
   * in this account goes on with this key. Rejects with `AccountRefusedError`, and
   * with `SecretsKeyError` where other processes could not open what is sealed here.
   */
  async setKey(
    merchant: MerchantId,
    given: GivenSecrets,
    named: string | null,
    act: Act,
  ): Promise<SetAccount> {
    if (given.key === this.serverKey) throw accountOfServer("the key is that of");
    const account = await this.accountOf(given.key, named);
    const isApartFromServers = await this.isApartFromServers(account);
    const box = await this.boxToSeal();
    const { key, webhookSecrets } = given;
    const sealed = {
      key: box.seal(key, boundTo.key(account)),
      webhookSecrets:
        webhookSecrets === undefined
          ? null
          : box.seal(webhookSecrets.join(","), boundTo.webhookSecrets(account)),
    };
    // Before a payment is begun in the account, what opens it is there.
    const entry = this.entry(act, "key_set", account, merchant);
    await this.accounts.keepSecrets(account, sealed, entry.at, entry);
    return { ...(await this.kept(merchant, account, act)), isApartFromServers };
  }

  unset(merchant: MerchantId, act: Act): Promise<boolean> {
    return this.accounts.unset(merchant, this.entry(act, "unset", merchant, merchant));
  }

  /** With its key. False if the account is not known, or a merchant has it. */
  forget(account: string, act: Act): Promise<boolean> {
    return this.accounts.forget(account, this.entry(act, "forgotten", account));
  }

  async list(): Promise<readonly ShownAccount[]> {
    const known = new Map((await this.accounts.known()).map((one) => [one.account, one]));
    return (await this.accounts.list()).map((setting) => shown(setting, known.get(setting.account)));
  }

  private entry(
    act: Act,
    what: "set" | "key_set" | "unset" | "forgotten",
    subject: string,
    merchant?: MerchantId,
  ): AuditEntry {
    const ofMerchant = merchant === undefined ? {} : { merchant };
    return entryOf(
      act,
      { kind: `merchant_account.${what}`, subject, ...ofMerchant },
      { clock: this.clock, ids: this.ids },
    );
  }

  private async kept(merchant: MerchantId, account: string, act: Act): Promise<ShownAccount> {
    const entry = this.entry(act, "set", account, merchant);
    const setting = { merchant, account, setAt: entry.at };
    await this.accounts.set(setting, entry);
    return this.shown(setting);
  }

  /**
   * What is in the server's own account is no merchant's before it names one; as a merchant's own, all of it would be theirs
   * to import.
   */
  private async isApartFromServers(account: string): Promise<boolean> {
    if (this.serverKey === null) return false;
    const owner = await this.askKeyOwner(this.serverKey);
    switch (owner.outcome) {
      case "found":
        if (owner.account === account) throw accountOfServer(`${account} is`);
        return true;
      case "not_said":
      case "refused":
        return false;
      case "unknown":
        throw new AccountRefusedError(
          "key_owner_unknown",
          `the gateway does not say which account is the server's own (${owner.reason}): nothing was changed, repeat the ` +
            "command later",
        );
    }
  }

  private async shown(setting: Setting): Promise<ShownAccount> {
    return shown(setting, (await this.accounts.find(setting.account)) ?? undefined);
  }

  private async accountOf(key: string, named: string | null): Promise<string> {
    const owner = await this.askKeyOwner(key);
    switch (owner.outcome) {
      case "found":
        if (named === null || named === owner.account) return owner.account;
        throw new AccountRefusedError(
          "key_of_other_account",
          `the key is that of ${owner.account}, not of ${named}: nothing was changed`,
        );
      case "not_said":
        if (named !== null) return named;
        throw new AccountRefusedError(
          "key_owner_not_said",
          "the key may not ask whose it is, as is so with restricted keys: name its account, too",
        );
      case "refused":
        throw new AccountRefusedError(
          "key_refused",
          `the gateway refuses the key (${owner.reason}): nothing was changed`,
        );
      case "unknown":
        throw new AccountRefusedError(
          "key_owner_unknown",
          `the gateway does not say whose the key is (${owner.reason}): nothing was changed, repeat the command later`,
        );
    }
  }
}

function accountOfServer(what: "the key is that of" | `${string} is`): AccountRefusedError {
  return new AccountRefusedError(
    "account_of_server",
    `${what} the server's own account, from which a merchant could import what belongs to others: nothing was ` +
      "changed. Merchants without an account of their own have this one anyway, by holdfast merchants unset",
  );
}

type Setting = Pick<ShownAccount, "merchant" | "account" | "setAt">;

function shown(
  setting: Setting,
  known: { readonly key: string | null; readonly webhookSecrets: string | null } | undefined,
): ShownAccount {
  const { merchant, account, setAt } = setting;
  return {
    merchant,
    account,
    setAt,
    access: (known?.key ?? null) === null ? "connected" : "own_key",
    hasWebhookSecrets: (known?.webhookSecrets ?? null) !== null,
  };
}
