import { join } from "node:path";
import { describeHintCrashes, describeHintMistakes } from "./describe-hint-crashes";

const store = (folder: string) => `sqlite:${join(folder, "holdfast.db")}`;

describeHintCrashes("SQLite", store);
describeHintMistakes("SQLite", store);
