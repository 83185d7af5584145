import type { SettingName } from "../../configuration/settings";

/**
 * The settings of `holdfast serve` that make sense without a server of its own, as `holdfast --help` lists them, in
 * camel case. Neither the environment nor a file is read.
 */
export interface HoldfastOptions {
  /** `sqlite:<file>`, `postgres://…` or `memory:`. Default: `sqlite:./data/holdfast.db`. */
  readonly store?: string;
  readonly storeConnections?: number;
  readonly acceptLostLog?: boolean;
  readonly locks?: string;
  readonly allowUnlocked?: boolean;
  /** Seconds, or `infinite`. */
  readonly lockTimeout?: number | "infinite";
  /** `simulated:`, `stripe:` or `module:<file>`. */
  readonly gateway?: string;
  readonly gatewayOptions?: Readonly<Record<string, string>>;
  readonly gatewayCatchUp?: number;
  readonly stripeApiKey?: string;
  readonly stripeUrl?: string;
  readonly stripeWebhookSecrets?: string;
  readonly secretsKey?: string;
  readonly webhooksAllow?: string;
  readonly snapshots?: string;
  /** How many sandboxes there may be; default: 0, and then there is nothing of them on disk either. */
  readonly sandboxLimit?: number;
  readonly sandboxPayments?: number;
  readonly sandboxIdle?: number;
  /** Where `router()` is reached from outside, with the path that it is mounted at. */
  readonly advertise?: string;
  /**
   * Whether `router()` answers callers without an API key while none was ever created, as `holdfast serve` does on loopback:
   * all of them are operators then. Only where the application lets nobody through to the router who may not move money.
   */
  readonly trustCallers?: boolean;
  /** Seconds between two passes of the background work; 0 disables them. */
  readonly passInterval?: number;
  /** `silent`, or from which level on log lines go to the standard output. */
  readonly logLevel?: string;
}

/** Beside the settings that have one name and one value. */
const others = ["lockTimeout", "gatewayOptions", "trustCallers"] as const;

/** A name that is no setting does not compile. */
type Names = Exclude<keyof HoldfastOptions, (typeof others)[number]>;
const known: Readonly<Record<Names, true>> & Partial<Record<SettingName, true>> = {
  store: true,
  storeConnections: true,
  acceptLostLog: true,
  locks: true,
  allowUnlocked: true,
  gateway: true,
  gatewayCatchUp: true,
  stripeApiKey: true,
  stripeUrl: true,
  stripeWebhookSecrets: true,
  secretsKey: true,
  webhooksAllow: true,
  snapshots: true,
  sandboxLimit: true,
  sandboxPayments: true,
  sandboxIdle: true,
  advertise: true,
  passInterval: true,
  logLevel: true,
};

/** What a program without types may send, and what is no value of any setting. */
export function mistakenOptions(given: unknown): { readonly source: string; readonly message: string }[] {
  if (typeof given !== "object" || given === null || Array.isArray(given))
    return [{ source: "options", message: "must be an object" }];
  const names = new Set<string>([...Object.keys(known), ...others]);
  const mistakes = Object.entries(given).flatMap(([source, value]) => {
    if (!names.has(source)) return [{ source, message: "is not a known option" }];
    // A variable that was meant to name a store must not lead to the default one.
    return value === null ? [{ source, message: "is null: leave it out to have its default" }] : [];
  });
  const { trustCallers = false } = given as { readonly trustCallers?: unknown };
  if (typeof trustCallers !== "boolean" && trustCallers !== null)
    mistakes.push({ source: "trustCallers", message: "must be true or false" });
  return mistakes;
}
