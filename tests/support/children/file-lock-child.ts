import { FileLockProvider } from "../../../src/infrastructure/locking/file/file-lock-provider";
import { runLockChild } from "../../../src/lock-contract";

const [directory = ""] = process.argv.slice(2);
runLockChild(() => new FileLockProvider(directory));
