import type { ConsoleRoute } from "../serving/console-route";
import { decideReview } from "./decide-review";
import { listReviews } from "./list-reviews";
import { showReview } from "./show-review";

export const reviewRoutes: readonly ConsoleRoute[] = [listReviews, showReview, decideReview];
