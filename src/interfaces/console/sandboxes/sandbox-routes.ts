import type { ConsoleRoute } from "../serving/console-route";
import { listSandboxes } from "./list-sandboxes";
import { sandboxActions } from "./sandbox-actions";
import { showSandbox } from "./show-sandbox";

export const sandboxRoutes: readonly ConsoleRoute[] = [listSandboxes, showSandbox, ...sandboxActions];
