import type { Endpoint } from "../endpoint";
import { listReviews } from "./list-reviews";
import { resolveReview } from "./resolve-review";
import type { ReviewParts } from "./review-parts";
import { showReview } from "./show-review";

/** What waits for a person, whosever payment it is. */
export const reviewEndpoints: readonly Endpoint<ReviewParts>[] = [listReviews, showReview, resolveReview];
