import { serve } from "../../../src/infrastructure/composition/serving/serve";
import { readConfiguration } from "../../../src/infrastructure/configuration/configuration";
import type { LeaseSettings } from "../../../src/infrastructure/locking/lease/protocol/lease-settings";

export interface SandboxServerOptions {
  readonly flags: Readonly<Record<string, string>>;
  /** Seconds of real time are dear in a test. */
  readonly lease: Partial<LeaseSettings>;
}

// `holdfast serve`, but for leases that are short.
async function main({ flags, lease }: SandboxServerOptions): Promise<void> {
  const configuration = readConfiguration({ flags, environment: {} });
  await serve(configuration, "0.0.0", (line) => process.stderr.write(`${line}\n`), undefined, lease);
}

void main(JSON.parse(process.argv[2]!) as SandboxServerOptions).then(() => process.exit());
