import type * as GoogleCloudStorage from "@google-cloud/storage";
import type { GcsClient } from "./gcs-requests";

/** Whether requests in this client's name go without credentials. */
export function isAnonymous({ customEndpoint, useAuthWithCustomEndpoint }: GcsClient): boolean {
  return customEndpoint === true && useAuthWithCustomEndpoint !== true;
}

/**
 * The Google client as the lock needs it: one of its own, because `autoRetry` is state that a single save without a
 * condition changes for every user of the same client; and never repeating a request by itself, because a repeated
 * conditional write that had already been applied comes back as a conflict with oneself.
 */
export function createGcsClient(settings: {
  readonly requestTimeoutMs: number;
  /** As `STORAGE_EMULATOR_HOST` has it: with or without scheme. Undefined: the real service. */
  readonly emulatorHost: string | undefined;
}): GoogleCloudStorage.Storage {
  const { emulatorHost } = settings;
  // Loaded here: whoever chose another lock should not pay for this client.
  // eslint-disable-next-line @typescript-eslint/no-require-imports
  const { Storage: Client } = require("@google-cloud/storage") as typeof GoogleCloudStorage;
  return withoutEmulatorVariable(
    () =>
      new Client({
        timeout: settings.requestTimeoutMs,
        retryOptions: { autoRetry: false, maxRetries: 0 },
        ...(emulatorHost === undefined
          ? {}
          : { apiEndpoint: emulatorEndpoint(emulatorHost), projectId: "holdfast" }),
      }),
  );
}

function emulatorEndpoint(host: string): string {
  return (/^https?:\/\//.test(host) ? host : `http://${host}`).replace(/\/+$/, "");
}

/**
 * With the variable set, the client puts metadata and media requests under another path than uploads: writes work, reads
 * answer 404, and every lock looks free. It looks at the variable in its constructor only.
 */
function withoutEmulatorVariable<T>(construct: () => T): T {
  const kept = process.env["STORAGE_EMULATOR_HOST"];
  delete process.env["STORAGE_EMULATOR_HOST"];
  try {
    return construct();
  } finally {
    if (kept !== undefined) process.env["STORAGE_EMULATOR_HOST"] = kept;
  }
}
