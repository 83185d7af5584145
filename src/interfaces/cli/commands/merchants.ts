import { Command } from "commander";
import { isAccountName } from "../../../application/ports/accounts/merchant-account-store";
import {
  AccountRefusedError,
  type SetAccount,
  type ShownAccount,
} from "../../../application/use-cases/manage-merchant-accounts";
import { parseMerchantId, type MerchantId } from "../../../domain/identifiers";
import { InvalidValueError } from "../../../domain/payment/errors";
import type { StoreCommands } from "../backend";
import type { CommandContext } from "../cli";
import { UsageError } from "../exit-status";
import { localAct } from "../local-act";
import { table } from "../output";
import { keyIn, webhookSecretsIn } from "./merchants/secret-files";

interface Given {
  readonly stripeAccount?: string;
  readonly stripeKeyFile?: string;
  readonly stripeWebhookSecretFile?: string;
}

const MERCHANT = ["<merchant>", "the merchant, as API keys name it"] as const;

/** `merchants`: whose account at the gateway a merchant's payments go through. Works on the store, beside running servers. */
export function merchantsCommand(context: CommandContext): Command {
  const merchants = new Command("merchants")
    .description("set and list the accounts of merchants at the gateway")
    .addHelpText(
      "after",
      "\nExamples:\n  $ holdfast merchants set acme --stripe-account acct_1032D82eZvKYlo2C\n" +
        "  $ holdfast merchants set zoo --stripe-key-file ./zoo.key --stripe-webhook-secret-file ./zoo.whsec\n" +
        "  $ holdfast merchants list\n",
    );
  addSet(merchants, context);
  addShowAndList(merchants, context);
  addUnsetAndForget(merchants, context);
  return merchants;
}

function addSet(merchants: Command, context: CommandContext): void {
  merchants
    .command("set")
    .description("authorize the merchant's payments in an account of their own, from the next one on")
    .argument(...MERCHANT)
    .option("--stripe-account <id>", "the account at Stripe, acct_…, connected to that of the server's key")
    .option(
      "--stripe-key-file <path>",
      "a file with the secret key of the merchant's own account, which need not be connected; it is kept sealed, and " +
        "replaces one that the account had",
    )
    .option(
      "--stripe-webhook-secret-file <path>",
      "with a key: a file with the signing secrets (whsec_…) of the account's own webhook endpoint",
    )
    .action(async (name: string, given: Given) => {
      const merchant = merchantOf(name);
      const { isApartFromServers, ...set } = await applied(context, merchant, given);
      const output = context.output();
      output.result(set, `${merchant} has ${inWords(set)}`);
      output.note("payments that have begun stay in the account in which they were authorized");
      if (set.access === "own_key" && !set.hasWebhookSecrets)
        output.note(
          "no webhook secret of the account is known: its events are read from Stripe's list, every few minutes",
        );
      warnWithoutStripe(context);
      if (!isApartFromServers)
        output.warn(
          `${set.account} was not compared with the server's own account, because STRIPE_API_KEY is not set here, or may not ask ` +
            "whose it is: the server's own account must not be a merchant's, who could import what belongs to others",
        );
    });
}

function addShowAndList(merchants: Command, context: CommandContext): void {
  merchants
    .command("show")
    .description("show the account of a merchant")
    .argument(...MERCHANT)
    .action(async (name: string) => {
      const merchant = merchantOf(name);
      const found = (await listed(context)).find((one) => one.merchant === merchant);
      const none = { merchant, account: null, setAt: null, access: null, hasWebhookSecrets: false };
      const words = found === undefined ? "the common account" : inWords(found);
      context.output().result(found ?? none, `${merchant} has ${words}`);
    });
  merchants
    .command("list")
    .description("list the merchants that have an account of their own, and whose key opens it")
    .action(async () => {
      const found = await listed(context);
      const rows = found.map((one) => [
        one.merchant,
        one.account,
        accessWords[one.access],
        one.hasWebhookSecrets ? "yes" : "-",
        one.setAt.toISOString(),
      ]);
      context
        .output()
        .result(found, table([["MERCHANT", "ACCOUNT", "ACCESS", "WEBHOOK SECRET", "SET"], ...rows]));
    });
}

function addUnsetAndForget(merchants: Command, context: CommandContext): void {
  merchants
    .command("unset")
    .description("authorize the merchant's payments in the common account again, from the next one on")
    .argument(...MERCHANT)
    .action(async (name: string) => {
      const merchant = merchantOf(name);
      if (!(await onAccounts(context, (accounts) => accounts.unset(merchant, localAct(context.reason())))))
        throw new UsageError(`${merchant} has no account of its own: see holdfast merchants list`);
      context.output().result({ merchant, account: null }, `${merchant} has the common account`);
    });
  merchants
    .command("forget")
    .description("delete the key and the webhook secrets of an account that no merchant has any more")
    .argument("<account>", "the account at Stripe, acct_…")
    .action(async (account: string) => {
      assertAccount("the account", account);
      if (!(await onAccounts(context, (accounts) => accounts.forget(account, localAct(context.reason())))))
        throw new UsageError(
          `${account} is not known, or a merchant has it: see holdfast merchants list, and unset it first`,
        );
      const output = context.output();
      output.result({ account }, `${account} is forgotten`);
      output.note(
        "payments that were begun with its key cannot be captured, refunded or asked about until the key is set again",
      );
    });
}

async function applied(context: CommandContext, merchant: MerchantId, given: Given): Promise<SetAccount> {
  const { stripeAccount, stripeKeyFile, stripeWebhookSecretFile } = given;
  if (stripeAccount !== undefined) assertAccount("--stripe-account", stripeAccount);
  if (stripeKeyFile === undefined) {
    if (stripeAccount === undefined)
      throw new UsageError("name the account by --stripe-account, or give its key by --stripe-key-file");
    if (stripeWebhookSecretFile !== undefined)
      throw new UsageError(
        "--stripe-webhook-secret-file goes with --stripe-key-file; the secret of an endpoint for connected accounts " +
          "belongs in HOLDFAST_STRIPE_WEBHOOK_SECRETS",
      );
    return refusable("--stripe-account", () =>
      onAccounts(context, (accounts) => accounts.set(merchant, stripeAccount, localAct(context.reason()))),
    );
  }
  const secrets = {
    key: keyIn(stripeKeyFile),
    ...(stripeWebhookSecretFile !== undefined && {
      webhookSecrets: webhookSecretsIn(stripeWebhookSecretFile),
    }),
  };
  return refusable("--stripe-key-file", () =>
    onAccounts(context, (accounts) =>
      accounts.setKey(merchant, secrets, stripeAccount ?? null, localAct(context.reason())),
    ),
  );
}

async function refusable<T>(option: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw error instanceof AccountRefusedError ? refusal(option, error) : error;
  }
}

function refusal(option: string, { refusal: why, message }: AccountRefusedError): Error {
  if (why === "key_owner_unknown") return Object.assign(new Error(message), { code: "service_unavailable" });
  return new UsageError(`${option}: ${message}${why === "key_owner_not_said" ? " by --stripe-account" : ""}`);
}

/** Another gateway has no accounts of merchants. The server may have another setting than this command, so it is no error. */
function warnWithoutStripe(context: CommandContext): void {
  const gateway = context
    .configured()
    .entries()
    .find(({ name }) => name === "gateway");
  if (gateway === undefined || gateway.value?.startsWith("stripe:") === true) return;
  context
    .output()
    .warn(
      `the gateway is ${gateway.value} (${gateway.source}), and only stripe: has accounts of merchants: with this gateway the ` +
        "setting has no effect",
    );
}

const accessWords: Readonly<Record<ShownAccount["access"], string>> = {
  own_key: "own key",
  connected: "connected",
};

function inWords({ account, access }: ShownAccount): string {
  return access === "own_key" ? `the account ${account}, by a key of its own` : `the account ${account}`;
}

function listed(context: CommandContext): Promise<readonly ShownAccount[]> {
  return onAccounts(context, (accounts) => accounts.list());
}

function onAccounts<T>(
  context: CommandContext,
  work: (accounts: StoreCommands["merchantAccounts"]) => Promise<T>,
): Promise<T> {
  return context.configured().withStore("merchants", ({ merchantAccounts }) => work(merchantAccounts));
}

function assertAccount(what: string, name: string): void {
  if (!isAccountName(name)) throw new UsageError(`${what} must be acct_ and what follows it at Stripe`);
}

function merchantOf(text: string): MerchantId {
  try {
    return parseMerchantId(text);
  } catch (error) {
    if (error instanceof InvalidValueError)
      throw new UsageError(`"${text}" cannot be a merchant: ${error.message}`);
    throw error;
  }
}
