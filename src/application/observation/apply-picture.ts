import { observePicture } from "../../domain/payment/picture/observe-picture";
import type { GatewayPicture } from "../../domain/payment/picture/gateway-picture";
import type { Payment } from "../../domain/payment/payment";
import type { EventData } from "../../domain/payment/events";
import type { OperationId } from "../../domain/identifiers";
import { stepNow, type OperationContext } from "../operations/operation-context";

/** The payment with what the picture shows; the very same one if that is no news. */
export function applyPicture(
  context: OperationContext,
  payment: Payment,
  picture: GatewayPicture,
  { trace, overridden }: Observing,
): Payment {
  const step = stepNow(context, { ...trace, ...pictureTrace(picture) });
  return observePicture(payment, picture, { ...step, overridden });
}

/** What an observation goes by beside what the gateway says. */
export interface Observing {
  readonly trace: EventData;
  readonly overridden: ReadonlySet<OperationId>;
}

/** What an event tells about the picture that it comes from: the gateway's side, in short. */
function pictureTrace({ authorization, captured, refunds }: GatewayPicture): EventData {
  return {
    gateway: {
      asked: "picture",
      answer: authorization,
      ...(captured === null ? {} : { captured: inShort(captured) }),
      ...(refunds.length === 0 ? {} : { refunds: refunds.slice(0, MOST_TOLD).map(inShort) }),
    },
  };
}

/** A history's line stays short, however many refunds a payment has. */
const MOST_TOLD = 10;

function inShort<Seen extends { readonly amount: bigint }>(seen: Seen) {
  return { ...seen, amount: Number(seen.amount) };
}
