import type { OperationKind } from "../../../domain/payment/operation";

/** What others do in the gateway's dashboard has a key that no request of ours can have. */
const ELSEWHERE = "elsewhere";

export function keyElsewhere(kind: OperationKind, authorizationReference: string): string {
  return `${ELSEWHERE}.${kind}.${authorizationReference}`;
}

/** Former versions wrote the bare word. */
export function isElsewhere(gatewayKey: string): boolean {
  return gatewayKey === ELSEWHERE || gatewayKey.startsWith(`${ELSEWHERE}.`);
}
