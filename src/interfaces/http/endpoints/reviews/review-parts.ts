import type { LockTimeoutPolicy } from "../../../../application/ports/lock-timeout";
import type { ReviewOperations } from "../../../../application/use-cases/review-operations";
import type { Lifecycle } from "../../server/lifecycle";

export interface ReviewParts {
  readonly reviewOperations: Pick<ReviewOperations, "list" | "one" | "resolve">;
  readonly lockTimeouts: LockTimeoutPolicy;
  readonly lifecycle: Lifecycle;
}
