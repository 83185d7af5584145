import { Command } from "commander";
import type { MerchantAccount } from "../../../application/ports/accounts/merchant-account-store";
import { parseMerchantId, type MerchantId } from "../../../domain/identifiers";
import { InvalidValueError } from "../../../domain/payment/errors";
import type { CommandContext } from "../cli";
import { UsageError } from "../exit-status";
import { table } from "../output";

/** `merchants`: whose account at the gateway a merchant's payments go through. Works on the store, beside running servers. */
export function merchantsCommand(context: CommandContext): Command {
  const merchants = new Command("merchants")
    .description("set and list the accounts of merchants at the gateway")
    .addHelpText(
      "after",
      "\nExamples:\n  $ holdfast merchants set acme --stripe-account acct_1032D82eZvKYlo2C\n  $ holdfast merchants list\n",
    );
  merchants
    .command("set")
    .description("authorize the merchant's payments in this account, from the next one on")
    .argument("<merchant>", "the merchant, as API keys name it")
    .requiredOption(
      "--stripe-account <id>",
      "the account at Stripe, acct_…, connected to that of the secret key",
    )
    .action(async (name: string, { stripeAccount }: { stripeAccount: string }) => {
      const merchant = merchantOf(name);
      if (!/^acct_[A-Za-z0-9]{1,250}$/.test(stripeAccount))
        throw new UsageError("--stripe-account must be acct_ and what follows it at Stripe");
      const set = await context
        .configured()
        .withStore("merchants", ({ merchantAccounts }) => merchantAccounts.set(merchant, stripeAccount));
      const output = context.output();
      output.result(shown(set), `${merchant} has the account ${stripeAccount}`);
      output.note("payments that have begun stay in the account in which they were authorized");
    });
  merchants
    .command("show")
    .description("show the account of a merchant")
    .argument("<merchant>", "the merchant, as API keys name it")
    .action(async (name: string) => {
      const merchant = merchantOf(name);
      const found = (await listed(context)).find((one) => one.merchant === merchant);
      const inWords = found === undefined ? "the common account" : `the account ${found.account}`;
      context
        .output()
        .result(
          found === undefined ? { merchant, account: null, setAt: null } : shown(found),
          `${merchant} has ${inWords}`,
        );
    });
  merchants
    .command("list")
    .description("list the merchants that have an account of their own")
    .action(async () => {
      const found = await listed(context);
      context
        .output()
        .result(
          found.map(shown),
          table([
            ["MERCHANT", "ACCOUNT", "SET"],
            ...found.map(({ merchant, account, setAt }) => [merchant, account, setAt.toISOString()]),
          ]),
        );
    });
  merchants
    .command("unset")
    .description("authorize the merchant's payments in the common account again, from the next one on")
    .argument("<merchant>", "the merchant, as API keys name it")
    .action(async (name: string) => {
      const merchant = merchantOf(name);
      const had = await context
        .configured()
        .withStore("merchants", ({ merchantAccounts }) => merchantAccounts.unset(merchant));
      if (!had) throw new UsageError(`${merchant} has no account of its own: see holdfast merchants list`);
      context.output().result({ merchant, account: null }, `${merchant} has the common account`);
    });
  return merchants;
}

function listed(context: CommandContext): Promise<readonly MerchantAccount[]> {
  return context.configured().withStore("merchants", ({ merchantAccounts }) => merchantAccounts.list());
}

function merchantOf(text: string): MerchantId {
  try {
    return parseMerchantId(text);
  } catch (error) {
    if (error instanceof InvalidValueError) throw new UsageError(`${text}: ${error.message}`);
    throw error;
  }
}

function shown({ merchant, account, setAt }: MerchantAccount) {
  return { merchant, account, setAt };
}
