import type { OperationContext } from "../../../src/application/operations/operation-context";
import type { LockProvider } from "../../../src/application/ports/lock-provider";
import type { PaymentGateway } from "../../../src/application/ports/payment-gateway";
import { isOpen } from "../../../src/domain/payment/operation";
import type { Steps } from "../interleavings";
import type { Shared } from "./hint-model";

/** Mistakes that somebody could make about hints. */
export type HintModelMistake =
  | "a hint is taken for evidence"
  | "a hint sends what it finds open"
  | "a busy payment's hint is dropped"
  | "a hint that was renewed meanwhile is dropped"
  | "no version"
  | "what has ended is not asked about while something is open"
  | "what others captured is taken for ours";

interface Follower {
  readonly context: OperationContext;
  readonly locks: LockProvider;
  readonly steps: Pick<Steps<Shared>, "take">;
}

/** The follower with the mistake, if it is one of what it asks. */
export function planted(
  mistake: HintModelMistake | undefined,
  { context, locks, steps }: Follower,
): Follower {
  const { gateway } = context;
  const draw = gateway.picture;
  const changed = (change: Partial<PaymentGateway>): Follower => ({
    context: { ...context, gateway: { ...gateway, ...change } },
    locks,
    steps,
  });
  const openOf = () =>
    steps.take("looks what is open", ({ payment }) => payment.facts.operations.find(isOpen)?.id ?? null);
  switch (mistake) {
    case "a hint is taken for evidence":
      return changed({
        find: async (request) =>
          request.operationId === (await openOf())
            ? { outcome: "succeeded", reference: "as the hint says" }
            : gateway.find(request),
      });
    case "a hint sends what it finds open":
      return changed({
        find: async (request) => {
          const found = await gateway.find(request);
          const { kind, authorizationReference } = request;
          if (found.outcome !== "absent" || kind !== "capture" || authorizationReference === null)
            return found;
          const answer = await gateway.capture({ ...request, authorizationReference });
          return answer.outcome === "not_sent" ? found : answer;
        },
      });
    case "what has ended is not asked about while something is open":
      return changed({
        find: async (request) => {
          const open = await openOf();
          return open === null || open === request.operationId
            ? gateway.find(request)
            : { outcome: "absent" };
        },
      });
    case "what others captured is taken for ours":
      return changed({
        find: async (request) => {
          const found = await gateway.find(request);
          return found.outcome === "mismatch"
            ? { outcome: "succeeded", reference: found.reference ?? "theirs" }
            : found;
        },
        picture: async (request) => {
          const answer = (await draw?.(request)) ?? { outcome: "unknown", reason: "it draws none" };
          const captured = answer.outcome === "seen" ? answer.picture.captured : null;
          const open = await openOf();
          return answer.outcome === "seen" && captured?.operationId === null && open !== null
            ? { ...answer, picture: { ...answer.picture, captured: { ...captured, operationId: open } } }
            : answer;
        },
      });
    default:
      return { context, locks, steps };
  }
}
