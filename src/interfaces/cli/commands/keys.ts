import { Command } from "commander";
import type { ApiKey } from "../../../application/ports/api-key-store";
import { InvalidValueError } from "../../../domain/payment-errors";
import { parseMerchantId, type MerchantId } from "../../../domain/identifiers";
import type { CommandContext } from "../cli";
import { UsageError } from "../exit-status";
import { table } from "../output";

export function keysCommand(context: CommandContext): Command {
  const keys = new Command("keys")
    .description("make, list and revoke the API keys of callers")
    .addHelpText("after", "\nExamples:\n  $ holdfast keys create --merchant acme\n  $ holdfast keys list\n");
  keys
    .command("create")
    .description("make a key, and print its secret this once")
    .requiredOption("--merchant <name>", "whose payments the key is for")
    .option("--operator", "the key may also look across merchants")
    .option("--name <text>", "what you call it")
    .addHelpText("after", "\nExample:\n  $ holdfast keys create --merchant acme --name checkout\n")
    .action(async (wish: { merchant: string; operator?: boolean; name?: string }) => {
      const merchant = merchantOf(wish.merchant);
      const { key, secret } = await context
        .configured()
        .withStore("keys", ({ apiKeys }) =>
          apiKeys.create({ merchant, operator: wish.operator === true, name: wish.name ?? null }),
        );
      const output = context.output();
      output.result({ ...shown(key), secret }, secret);
      output.note(
        `key ${key.id} of merchant ${key.merchant}: the line on stdout is its secret, shown this once`,
      );
    });
  keys
    .command("list")
    .description("list the keys, without their secrets")
    .addHelpText("after", "\nExample:\n  $ holdfast keys list --json\n")
    .action(async () => {
      const found = await context.configured().withStore("keys", ({ apiKeys }) => apiKeys.list());
      context
        .output()
        .result(
          found.map(shown),
          table([
            ["ID", "MERCHANT", "RIGHTS", "NAME", "SECRET", "CREATED", "REVOKED"],
            ...found.map((key) => [
              key.id,
              key.merchant,
              key.operator ? "operator" : "merchant",
              key.name ?? "-",
              `${key.prefix}…`,
              key.createdAt.toISOString(),
              key.revokedAt?.toISOString() ?? "-",
            ]),
          ]),
        );
    });
  keys
    .command("revoke")
    .description("end a key; running servers notice within a second")
    .argument("<id>", "as `keys list` shows it")
    .addHelpText("after", "\nExample:\n  $ holdfast keys revoke 0190b5a0-0000-7000-8000-000000000000\n")
    .action(async (id: string) => {
      const key = await context
        .configured()
        .withStore("keys", ({ apiKeys }) => apiKeys.revoke(id.toLowerCase()));
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

function shown({ id, merchant, operator, name, prefix, createdAt, revokedAt }: ApiKey) {
  return { id, merchant, operator, name, prefix, createdAt, revokedAt };
}
