import type { ConsoleRoute } from "../serving/console-route";
import { endpointActions } from "./endpoint-actions";
import { listEndpoints } from "./list-endpoints";
import { showEndpoint } from "./show-endpoint";

export const webhookRoutes: readonly ConsoleRoute[] = [listEndpoints, showEndpoint, ...endpointActions];
