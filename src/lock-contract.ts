/** `holdfast/lock-contract`: the promises of the `LockProvider` port as tests, for adapters of your own. */
export {
  describeLockProvider,
  lockContract,
  type LockProviderUnderTest,
  type TestFramework,
} from "./infrastructure/locking/contract/describe-lock-provider";
export {
  runLockContractTest,
  type ChildCommand,
  type LeaseHarness,
  type LockContractLayer,
  type LockContractTest,
  type LockContractWorld,
  type OpenedLocks,
} from "./infrastructure/locking/contract/contract-test";
export { runLockChild } from "./infrastructure/locking/contract/children/lock-child";
