import type { AuthorizationLookup } from "../../application/ports/authorization-lookup";
import type { PaymentGateway } from "../../application/ports/payment-gateway";

export type WatchableGateway = PaymentGateway & AuthorizationLookup;

/** What is asked of a gateway. */
export type GatewayQuestion = "authorize" | "capture" | "void" | "refund" | "find" | "picture" | "lookup";

/** Asks, and sees how long that takes and what is answered. */
export type WatchGateway = <A extends { readonly outcome: string }>(
  question: GatewayQuestion,
  ask: () => Promise<A>,
) => Promise<A>;

/** The same gateway, each question to which is watched. */
export function watchedGateway(gateway: WatchableGateway, watch: WatchGateway): WatchableGateway {
  return {
    remembersKeysForMs: gateway.remembersKeysForMs,
    decidesWithinMs: gateway.decidesWithinMs,
    authorize: (request) => watch("authorize", () => gateway.authorize(request)),
    capture: (request) => watch("capture", () => gateway.capture(request)),
    void: (request) => watch("void", () => gateway.void(request)),
    refund: (request) => watch("refund", () => gateway.refund(request)),
    find: (request) => watch("find", () => gateway.find(request)),
    lookupAuthorization: (request) => watch("lookup", () => gateway.lookupAuthorization(request)),
    // One that draws no pictures is not asked for any.
    ...(gateway.picture !== undefined && {
      picture: (request) => watch("picture", async () => drawnBy(gateway, request)),
    }),
  };
}

function drawnBy(gateway: PaymentGateway, request: Parameters<NonNullable<PaymentGateway["picture"]>>[0]) {
  return gateway.picture?.(request) ?? { outcome: "unknown" as const, reason: "it draws no pictures" };
}
