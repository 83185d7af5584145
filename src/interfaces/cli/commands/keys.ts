import { Command } from "commander";
import type { ApiKey } from "../../../application/ports/api-key-store";
import { InvalidValueError } from "../../../domain/payment/errors";
import { parseMerchantId, type MerchantId } from "../../../domain/identifiers";
import type { CommandContext } from "../cli";
import { UsageError } from "../exit-status";
import { localAct } from "../local-act";
import { table } from "../output";

export function keysCommand(context: CommandContext): Command {
  const keys = new Command("keys")
    .description("create, list and revoke API keys")
    .addHelpText("after", "\nExamples:\n  $ holdfast keys create --merchant acme\n  $ holdfast keys list\n");
  keys
    .command("create")
    .description("create a key, and print its secret (shown once)")
    .requiredOption("--merchant <name>", "the merchant whose payments the key gives access to")
    .option("--operator", "the key may also act across merchants")
    .option("--name <text>", "a name of your choice for the key")
    .addHelpText("after", "\nExample:\n  $ holdfast keys create --merchant acme --name checkout\n")
    .action(async (wish: { merchant: string; operator?: boolean; name?: string }) => {
      const merchant = merchantOf(wish.merchant);
      const { key, secret } = await context
        .configured()
        .withStore("new-key", ({ apiKeys }) =>
          apiKeys.create(
            { merchant, operator: wish.operator === true, name: wish.name ?? null },
            localAct(context.reason()),
          ),
        );
      const output = context.output();
      output.result({ ...shown(key), secret }, secret);
      output.note(
        `key ${key.id} of merchant ${key.merchant}: the line on stdout is its secret, shown only once`,
      );
    });
  keys
    .command("list")
    .description("list all keys, without their secrets")
    .addHelpText("after", "\nExample:\n  $ holdfast keys list --json\n")
    .action(async () => {
      const found = await context.configured().withStore("keys", ({ apiKeys }) => apiKeys.list());
      context
        .output()
        .result(
          found.map(shown),
          table([
            ["ID", "MERCHANT", "RIGHTS", "NAME", "SECRET", "CREATED", "LAST USED", "REVOKED"],
            ...found.map((key) => [
              key.id,
              key.merchant,
              key.operator ? "operator" : "merchant",
              key.name ?? "-",
              `${key.prefix}…`,
              key.createdAt.toISOString(),
              key.lastUsedAt?.toISOString() ?? "-",
              key.revokedAt?.toISOString() ?? "-",
            ]),
          ]),
        );
    });
  keys
    .command("revoke")
    .description("revoke a key; running servers refuse it within a second")
    .argument("<id>", "the key's id, from `keys list`")
    .addHelpText("after", "\nExample:\n  $ holdfast keys revoke 0190b5a0-0000-7000-8000-000000000000\n")
    .action(async (id: string) => {
      const key = await context
        .configured()
        .withStore("keys", ({ apiKeys }) => apiKeys.revoke(id.toLowerCase(), localAct(context.reason())));
      if (key === null) throw new UsageError(`there is no key ${id}: see holdfast keys list`);
      context.output().result(shown(key), `revoked ${key.id} of merchant ${key.merchant}`);
    });
  return keys;
}

function merchantOf(text: string): MerchantId {
  try {
    return parseMerchantId(text);
  } catch (error) {
    if (error instanceof InvalidValueError) throw new UsageError(`--merchant ${text}: ${error.message}`);
    throw error;
  }
}

function shown({ id, merchant, operator, name, prefix, createdAt, revokedAt, lastUsedAt }: ApiKey) {
  return { id, merchant, operator, name, prefix, createdAt, revokedAt, lastUsedAt };
}
