import { join } from "node:path";
import { describeCrashMatrix } from "./describe-crash-matrix";

describeCrashMatrix("SQLite", (folder) => `sqlite:${join(folder, "holdfast.db")}`);
