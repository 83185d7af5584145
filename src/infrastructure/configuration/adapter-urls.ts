import { bucketIn, checkedUrl, isPostgres, pathIn } from "./addresses";
import { lockForms, readLocks, type LockSetting } from "./lock-catalogue";
import { SettingError } from "./setting-source";

/** One URL picks an adapter. What it says is checked here; whether something answers there shows at start. */
export type StoreSetting =
  | { readonly kind: "sqlite"; readonly file: string }
  | { readonly kind: "postgres"; readonly url: string }
  | { readonly kind: "memory" };

/** `store`: the database that is the store, too. */
export type LocksSetting = LockSetting | { readonly kind: "store" };

export type GatewaySetting =
  | { readonly kind: "simulated" }
  | { readonly kind: "stripe" }
  | { readonly kind: "module"; readonly file: string };

/** How gateways are written. */
export const gatewayForms = "simulated:, stripe:, module:<file>";

export type SnapshotsSetting =
  | { readonly kind: "directory"; readonly directory: string }
  | { readonly kind: "gcs"; readonly bucket: string; readonly prefix: string };

export function parseStore(text: string): StoreSetting {
  if (text === "memory:") return { kind: "memory" };
  if (isPostgres(text)) return { kind: "postgres", url: checkedUrl(text) };
  if (text.startsWith("sqlite:")) return { kind: "sqlite", file: pathIn(text, "sqlite:") };
  throw new SettingError("must be one of sqlite:<file>, postgres://…, memory:");
}

export function parseLocks(text: string): LocksSetting {
  const setting = text === "postgres:" ? ({ kind: "store" } as const) : readLocks(text);
  if (setting === undefined) throw new SettingError(`must be one of ${lockForms()}`);
  return setting;
}

export function parseGateway(text: string): GatewaySetting {
  if (text === "simulated:") return { kind: "simulated" };
  if (text === "stripe:") return { kind: "stripe" };
  if (text.startsWith("module:")) return { kind: "module", file: pathIn(text, "module:") };
  throw new SettingError(`must be one of ${gatewayForms}`);
}

export function parseSnapshots(text: string): SnapshotsSetting {
  if (text.startsWith("gs://")) return { kind: "gcs", ...bucketIn(text) };
  if (text.startsWith("file:")) return { kind: "directory", directory: pathIn(text, "file:") };
  throw new SettingError("must be one of file:<dir>, gs://bucket/prefix");
}
