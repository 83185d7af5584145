import type { CatchUp } from "../../../../application/gateway-events/catch-up";
import type { ReceiveGatewayEvent } from "../../../../application/gateway-events/receive-gateway-event";

export interface ReceiveParts {
  readonly receiveGatewayEvent: Pick<ReceiveGatewayEvent, "expect">;
}

export interface ReceiveForAccountParts {
  readonly receiveAccountEvent: Pick<ReceiveGatewayEvent, "expect">;
}

export interface CatchUpParts {
  readonly catchUp: Pick<CatchUp, "page">;
}

type AllParts = ReceiveParts & ReceiveForAccountParts & CatchUpParts;

/** What a gateway that says something by itself is listened to with. Each is left out where there is none. */
export type GatewayEventUseCases = {
  readonly [Name in keyof AllParts]?: AllParts[Name] | undefined;
};
