import type { AccountSecrets } from "../../application/ports/accounts/account-secrets";
import { SecretsKeyError } from "../../application/ports/events/secret-box";

/** As much of a structured logger as is needed here. */
interface AccountLogger {
  error(facts: object, message: string): void;
}

const effects = {
  key: "nothing is sent to this account, and requests about it are refused",
  webhookSecrets: "events of this account's own endpoint are not taken",
} as const;

/** Writes down what of an account does not open: once until it opens again, because it is asked for by each request. */
export class LoggedAccountSecrets implements AccountSecrets {
  private readonly told = new Set<string>();

  constructor(
    private readonly secrets: AccountSecrets,
    private readonly logger: AccountLogger,
  ) {}

  keyOf(account: string): Promise<string | null> {
    return this.logged(account, "key", this.secrets.keyOf(account));
  }

  webhookSecretsOf(account: string): Promise<readonly string[]> {
    return this.logged(account, "webhookSecrets", this.secrets.webhookSecretsOf(account));
  }

  private async logged<T>(account: string, what: keyof typeof effects, opening: Promise<T>): Promise<T> {
    const name = `${what} of ${account}`;
    try {
      const opened = await opening;
      this.told.delete(name);
      return opened;
    } catch (error) {
      if (error instanceof SecretsKeyError && !this.told.has(name)) {
        this.told.add(name);
        this.logger.error(
          { event: "account_not_opened", account, code: error.code },
          `${effects[what]}, because what opens it is sealed and does not open: ${error.message}`,
        );
      }
      throw error;
    }
  }
}
