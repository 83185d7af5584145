import type { FileLockMode } from "../locking/file/directory/lock-directory";
import type * as fileModule from "../locking/file/file-lock-kind";
import type * as gcsModule from "../locking/lease/gcs/gcs-lock-kind";
import { redisLocation } from "../locking/lease/redis/redis-location";
import type * as redisModule from "../locking/lease/redis/redis-lock-kind";
import type { LockKindByReach, LockReach } from "../locking/lock-kind";
import type * as memoryModule from "../locking/memory/memory-lock-kind";
import type * as noneModule from "../locking/none/no-lock-kind";
import type * as postgresModule from "../locking/postgres/postgres-lock-kind";
import { bucketIn, checkedUrl, isPostgres, pathIn } from "./addresses";
import { SettingError } from "./setting-source";

/** One kind of lock: whom it keeps apart, how it is written, and where what it can do is found. */
interface CataloguedKind<Reach extends LockReach, Address> {
  readonly reach: Reach;
  /** For help and messages; the first one is what is recommended. */
  readonly forms: readonly [string, ...string[]];
  /** What an address of this kind says; undefined if it is of another kind. Throws `SettingError`. */
  readonly read: (address: string) => Address | undefined;
  /** At once and only when this kind is chosen: `import()` would start Node's other loader first, for nothing. */
  readonly load: () => LockKindByReach<Address>[Reach];
}

/* eslint-disable @typescript-eslint/no-require-imports -- see `load` */
/** Every kind of lock. Nothing else in the program lists them. */
export const lockKinds = {
  memory: kind({
    reach: "process",
    forms: ["memory:"],
    read: exactly("memory:"),
    load: () => (require("../locking/memory/memory-lock-kind") as typeof memoryModule).memoryLockKind,
  }),
  none: kind({
    reach: "nobody",
    forms: ["none:"],
    read: exactly("none:"),
    load: () => (require("../locking/none/no-lock-kind") as typeof noneModule).noLockKind,
  }),
  file: kind({
    reach: "host",
    forms: ["file:<dir>"],
    read: readFile,
    load: () => (require("../locking/file/file-lock-kind") as typeof fileModule).fileLockKind,
  }),
  postgres: kind({
    reach: "network",
    forms: ["postgres://…", "postgres:"],
    read: readPostgres,
    load: () => (require("../locking/postgres/postgres-lock-kind") as typeof postgresModule).postgresLockKind,
  }),
  redis: kind({
    reach: "network",
    forms: ["redis://…", "redis+cluster://…", "redis+sentinel://…"],
    read: readRedis,
    load: () => (require("../locking/lease/redis/redis-lock-kind") as typeof redisModule).redisLockKind,
  }),
  gcs: kind({
    reach: "network",
    forms: ["gs://bucket/prefix"],
    read: readBucket,
    load: () => (require("../locking/lease/gcs/gcs-lock-kind") as typeof gcsModule).gcsLockKind,
  }),
};
/* eslint-enable @typescript-eslint/no-require-imports */

type Catalogue = typeof lockKinds;
type AddressOf<Name extends keyof Catalogue> = NonNullable<ReturnType<Catalogue[Name]["read"]>>;

/** One kind with its address: what the setting `locks` chooses. */
export type LockSetting = {
  [Name in keyof Catalogue]: { readonly kind: Name } & AddressOf<Name>;
}[keyof Catalogue];

/** Narrowed by its reach: only some kinds can be inspected, or lend leases. */
type AnyKind = { [Reach in LockReach]: CataloguedKind<Reach, LockSetting> }[LockReach];

export function kindOf(setting: LockSetting): AnyKind {
  // The name says whose address it is; the compiler does not follow that through the table.
  return lockKinds[setting.kind] as AnyKind;
}

/** Undefined if no kind is written like this. Throws `SettingError`. */
export function readLocks(address: string): LockSetting | undefined {
  for (const [kind, { read }] of Object.entries(lockKinds)) {
    const said = read(address);
    if (said !== undefined) return { kind, ...said } as LockSetting;
  }
  return undefined;
}

/** How locks are written. */
export function lockForms(): string {
  return Object.values(lockKinds)
    .flatMap(({ forms }) => forms)
    .join(", ");
}

/** The same for those that reach as far as is needed, as advice: "redis://… or gs://…". */
export function adviseLocks(isMeant: (reach: LockReach) => boolean): string {
  const forms = Object.values(lockKinds).flatMap(({ reach, forms: [form] }) =>
    isMeant(reach) ? [form] : [],
  );
  return forms.join(", ").replace(/, (?=[^,]*$)/, " or ");
}

/** Whether every instance that uses the same service takes part. */
export function isNetwork(reach: LockReach): boolean {
  return reach === "network";
}

/** Whether other processes, on this host at least, are kept out, too. */
export function isForProcesses(reach: LockReach): boolean {
  return reach === "host" || reach === "network";
}

/** Checks what `load` finds against the reach and the address beside it. */
function kind<Reach extends LockReach, Address extends object>(
  described: CataloguedKind<Reach, Address>,
): CataloguedKind<Reach, Address> {
  return described;
}

function exactly(form: string): (address: string) => object | undefined {
  return (address) => (address === form ? {} : undefined);
}

function readFile(address: string): { readonly directory: string; readonly mode?: FileLockMode } | undefined {
  if (!address.startsWith("file:")) return undefined;
  const query = address.indexOf("?");
  const parameters = new URLSearchParams(query === -1 ? "" : address.slice(query));
  const directory = pathIn(query === -1 ? address : address.slice(0, query), "file:");
  const unknown = [...parameters.keys()].find((name) => name !== "mode");
  if (unknown !== undefined)
    throw new SettingError(`has an unknown parameter "${unknown}": only mode is known`);
  const mode = parameters.get("mode");
  if (mode === null) return { directory };
  if (mode !== "kernel" && mode !== "exclusive-create")
    throw new SettingError("has an unknown mode: it is kernel or exclusive-create");
  return { directory, mode };
}

function readPostgres(address: string): { readonly url: string } | undefined {
  return isPostgres(address) ? { url: checkedUrl(address) } : undefined;
}

function readRedis(address: string): { readonly url: string } | undefined {
  if (!/^rediss?(\+(cluster|sentinel))?:\/\//.test(address)) return undefined;
  try {
    redisLocation(address);
  } catch (error) {
    throw new SettingError(`is no such address: ${(error as Error).message}`);
  }
  return { url: address };
}

function readBucket(address: string): ReturnType<typeof bucketIn> | undefined {
  return address.startsWith("gs://") ? bucketIn(address) : undefined;
}
