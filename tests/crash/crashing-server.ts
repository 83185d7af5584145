import { createRequire } from "node:module";
import { join } from "node:path";
import type * as applicationModule from "../../src/infrastructure/composition/opening/open-application";
import type * as serveModule from "../../src/infrastructure/composition/serving/serve";
import type * as tokensModule from "../../src/infrastructure/composition/container/tokens";
import type * as configurationModule from "../../src/infrastructure/configuration/configuration";
import { Crash, type CrashPoint } from "./crash-point";

/** What `crashingServer` in `crash-run.ts` passes on, as JSON. */
export interface CrashingServerOptions {
  /** The folder of the built program. Twenty processes that compile the sources anew would do little else. */
  readonly built: string;
  readonly store: string;
  /** How far its clock is behind: what it leaves open is due for whoever comes after it. */
  readonly behindMs: number;
  /** Seconds; 0: it never looks by itself for what is due. */
  readonly passInterval: number;
  /** Where it dies, and with how many operations at that point. */
  readonly crash?: { readonly point: CrashPoint; readonly arrivals: number };
}

// `holdfast serve`, but for a clock that is behind and a point where it kills itself.
async function main({ built, store, behindMs, passInterval, crash }: CrashingServerOptions): Promise<void> {
  const fromBuilt = createRequire(join(built, "infrastructure", "/"));
  const { openApplication } = fromBuilt("./composition/opening/open-application") as typeof applicationModule;
  const { serve } = fromBuilt("./composition/serving/serve") as typeof serveModule;
  const { tokens } = fromBuilt("./composition/container/tokens") as typeof tokensModule;
  const { readConfiguration } = fromBuilt("./configuration/configuration") as typeof configurationModule;
  const configuration = readConfiguration({
    flags: { store, port: "0", "pass-interval": String(passInterval), "log-level": "warn" },
    environment: {},
  });
  const say = (line: string) => process.stderr.write(`${line}\n`);
  await serve(configuration, "0.0.0", say, async () => {
    const application = await openApplication(configuration, { purpose: "serve" });
    const { container } = application;
    const clock = container.get(tokens.clock);
    container.rebind(tokens.clock).toConstantValue({
      now: () => new Date(clock.now().getTime() - behindMs),
    });
    if (crash !== undefined) {
      const { point, arrivals } = crash;
      const dying = new Crash(point, arrivals);
      const payments = dying.inStore(container.get(tokens.payments));
      const gateway = dying.inGateway(container.get(tokens.gateway));
      container.rebind(tokens.payments).toConstantValue(payments);
      container.rebind(tokens.gateway).toConstantValue(gateway);
    }
    return application;
  });
}

void main(JSON.parse(process.argv[2]!) as CrashingServerOptions);
