import { GcsLeaseLockProvider } from "../../src/infrastructure/locking/lease/gcs-lease-lock-provider";
import { runLockChild } from "../../src/lock-contract";
import { gcsChildOptions } from "./gcs-locks";

const { location, options } = gcsChildOptions();
runLockChild(() => new GcsLeaseLockProvider(location, options));
