import { openApplication } from "../../src/infrastructure/composition/opening/open-application";
import { serve } from "../../src/infrastructure/composition/serving/serve";
import { tokens } from "../../src/infrastructure/composition/container/tokens";
import { readConfiguration } from "../../src/infrastructure/configuration/configuration";
import { Crash, type Arrivals } from "./crash-point";
import { plantedIn, type HintMistake } from "./gateway-events/hint-mistakes";

/** What `crash-run.ts` passes on, as JSON. */
export interface CrashingServerOptions {
  readonly store: string;
  /** How far its clock is behind: what it leaves open is due for whoever comes after it. */
  readonly behindMs: number;
  /** Seconds; 0: it never looks by itself for what is due. */
  readonly passInterval: number;
  /** Where it dies: with so many payments at each of these points. */
  readonly crash?: readonly Arrivals[];
  /** Further settings, and the environment that some of them come by. */
  readonly flags?: Readonly<Record<string, string>>;
  readonly environment?: Readonly<Record<string, string>>;
  readonly mistake?: HintMistake;
}

// `holdfast serve`, but for a clock that is behind and a point where it kills itself.
async function main(options: CrashingServerOptions): Promise<void> {
  const { store, behindMs, passInterval, crash, flags = {}, environment = {}, mistake } = options;
  const configuration = readConfiguration({
    flags: { store, port: "0", "pass-interval": String(passInterval), "log-level": "warn", ...flags },
    environment,
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
      const dying = new Crash(crash);
      const payments = dying.inStore(container.get(tokens.payments));
      const gateway = dying.inGateway(container.get(tokens.gateway));
      const hints = dying.inHints(container.get(tokens.hintStore));
      const events = container.get(tokens.gatewayEvents);
      container.rebind(tokens.payments).toConstantValue(payments);
      container.rebind(tokens.gateway).toConstantValue(gateway);
      container.rebind(tokens.hintStore).toConstantValue(hints);
      if (events !== undefined) {
        const list = dying.inList(events.list);
        container.rebind(tokens.gatewayEvents).toConstantValue({ ...events, list });
      }
    }
    if (mistake !== undefined) {
      const hints = plantedIn(container.get(tokens.hintStore), mistake);
      container.rebind(tokens.hintStore).toConstantValue(hints);
    }
    return application;
  });
}

void main(JSON.parse(process.argv[2]!) as CrashingServerOptions).then(() => process.exit());
