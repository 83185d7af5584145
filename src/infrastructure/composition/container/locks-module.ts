import { ContainerModule } from "inversify";
import type { LockQueues } from "../../../application/ports/lock-queues";
import type { LockTimeoutPolicy } from "../../../application/ports/lock-timeout";
import type { LockSetting } from "../../configuration/lock-catalogue";
import type { OpenLocks } from "../../locking/lock-kind";
import { tokens } from "./tokens";

const noQueues: LockQueues = { queues: () => [] };

export function locksModule(
  setting: LockSetting,
  timeouts: LockTimeoutPolicy,
  { provider, queues, probe }: OpenLocks,
): ContainerModule {
  return new ContainerModule(({ bind }) => {
    bind(tokens.lockSetting).toConstantValue(setting);
    bind(tokens.lockTimeouts).toConstantValue(timeouts);
    bind(tokens.locks).toConstantValue(provider);
    bind(tokens.lockQueues).toConstantValue(queues ?? noQueues);
    bind(tokens.lockProbe).toConstantValue(probe);
  });
}
