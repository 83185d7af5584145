import { randomBytes } from "node:crypto";
import { createGcsClient } from "../../../src/infrastructure/gcs/gcs-client";
import {
  GcsLockProvider,
  type GcsLockOptions,
} from "../../../src/infrastructure/locking/lease/gcs/gcs-lock-provider";
import { gcsObjectName } from "../../../src/infrastructure/locking/lease/gcs/gcs-object-name";
import type { LeaseSettings } from "../../../src/infrastructure/locking/lease/protocol/lease-settings";
import type { ChildCommand } from "../../../src/lock-contract";
import { GcsStandIn } from "../gcs-stand-in/gcs-stand-in";
import { tcpRelayTo, type TcpRelay } from "./tcp-relay";
import { typescriptChild } from "../children/typescript-child";

/** The shortest lease there may be, and waiters that look often: seconds of real time are dear in a test. */
export const QUICK_LEASE: Partial<LeaseSettings> = {
  ttlMs: 1_500,
  marginMs: 2_000,
  waiterCheckMs: 100,
  waiterPollMs: 50,
  waiterRenewMs: 500,
  waiterTtlMs: 1_500,
  // As long as two looks: a busy machine must not cost a waiter its turn.
  yieldMs: 2_500,
  requestTimeoutMs: 1_000,
};

/**
 * A folder of its own in a bucket: of the stand-in; or, for `npm run test:gcs`, of the implementation at
 * `STORAGE_EMULATOR_HOST`, or of the real service where only `HOLDFAST_TEST_GCS_BUCKET` is given.
 */
export interface GcsWorld {
  readonly location: string;
  /** Absent where another implementation of the API is tested. */
  readonly standIn?: GcsStandIn;
  /** Between the stand-in and this process. */
  readonly relay?: TcpRelay;
  provider(lease?: Partial<LeaseSettings>): GcsLockProvider;
  /** A script of this folder in a process of its own. */
  child(script?: string, lease?: Partial<LeaseSettings>): ChildCommand;
  /** Puts something there as somebody else would, or takes it away with null. */
  put(resourceId: string, content: string | null): Promise<void>;
  close(): Promise<void>;
}

const BUCKET = "holdfast-locks";

export async function openGcsWorld(): Promise<GcsWorld> {
  const isOurs = process.env["HOLDFAST_TEST_GCS"] !== "1";
  const standIn = isOurs ? await GcsStandIn.start({ buckets: [BUCKET] }) : undefined;
  const relay = standIn === undefined ? undefined : await tcpRelayTo(standIn.url);
  const emulatorHost = relay?.url ?? process.env["STORAGE_EMULATOR_HOST"];
  const bucket = isOurs ? BUCKET : (process.env["HOLDFAST_TEST_GCS_BUCKET"] ?? BUCKET);
  if (emulatorHost === undefined && bucket === BUCKET)
    throw new Error("npm run test:gcs needs STORAGE_EMULATOR_HOST, or HOLDFAST_TEST_GCS_BUCKET");
  const client = createGcsClient({
    requestTimeoutMs: 10_000,
    emulatorHost: standIn?.url ?? emulatorHost,
  });
  if (!isOurs && !(await client.bucket(bucket).exists())[0]) await client.createBucket(bucket);
  const folder = `test-${randomBytes(6).toString("hex")}`;
  const location = `gs://${bucket}/${folder}`;
  const reached = emulatorHost === undefined ? {} : { emulatorHost };
  const opened: GcsLockProvider[] = [];

  return {
    location,
    ...(standIn === undefined ? {} : { standIn }),
    ...(relay === undefined ? {} : { relay }),
    provider: (lease = QUICK_LEASE) => {
      const provider = new GcsLockProvider(location, { ...reached, lease });
      opened.push(provider);
      return provider;
    },
    child: (script = "gcs-lock-child.ts", lease = QUICK_LEASE) => ({
      ...typescriptChild(script),
      env: { GCS_CHILD: JSON.stringify({ location, options: { ...reached, lease } }) },
    }),
    put: async (resourceId, content) => {
      const file = client.bucket(bucket).file(gcsObjectName(`${folder}/`, resourceId));
      await whenNotThrottled(() =>
        content === null
          ? file.delete().then(() => undefined)
          : file.save(content, { resumable: false, validation: false, contentType: "application/json" }),
      );
    },
    close: async () => {
      await Promise.all(opened.map((provider) => provider.close()));
      await relay?.close();
      if (standIn !== undefined) await standIn.close();
      else await whenNotThrottled(() => client.bucket(bucket).deleteFiles({ prefix: `${folder}/` }));
    },
  };
}

/** Asks again for as long as the service wants fewer changes: 429 says that nothing was changed. */
export async function whenNotThrottled<T>(change: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await change();
    } catch (error) {
      const { throttled, code } = error as { throttled?: boolean; code?: unknown };
      if (throttled !== true && Number(code) !== 429) throw error;
      await new Promise((resolve) => setTimeout(resolve, 1_050));
    }
  }
}

/** What a child process was told about its world. */
export function gcsChildOptions(): { location: string; options: GcsLockOptions } {
  return JSON.parse(process.env["GCS_CHILD"] ?? "") as ReturnType<typeof gcsChildOptions>;
}
