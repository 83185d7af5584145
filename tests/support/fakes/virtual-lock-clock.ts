export { VirtualLockClock } from "../../../src/infrastructure/locking/testing/virtual-lock-clock";
