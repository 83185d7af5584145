import { GcsLockProvider } from "../../../src/infrastructure/locking/lease/gcs/gcs-lock-provider";
import { runLockChild } from "../../../src/lock-contract";
import { gcsChildOptions } from "../servers/gcs-locks";

const { location, options } = gcsChildOptions();
runLockChild(() => new GcsLockProvider(location, options));
