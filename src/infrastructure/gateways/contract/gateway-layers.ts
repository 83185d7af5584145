import type { AuthorizationLookup } from "../../../application/ports/authorization-lookup";
import type { PaymentGateway } from "../../../application/ports/payment-gateway";

interface Layer {
  /** Without it, Holdfast could not move money through the gateway at all. */
  readonly required: boolean;
  readonly methods: readonly (keyof PaymentGateway | keyof AuthorizationLookup)[];
}

/** What a gateway can promise. Each layer is a group of tests in the contract, and takes these methods. */
export const gatewayLayers = {
  /** However often, and however many at once, a key is sent. */
  "moves once": { required: true, methods: ["authorize", "capture", "void", "refund"] },
  /** What was not heard is neither a success nor a refusal. */
  "is honest about silence": { required: true, methods: [] },
  /** It can be asked what became of a key, without moving anything. */
  "can be found again": { required: false, methods: ["find"] },
  /** It takes an order and says later what becomes of it; from then on it is only asked, and nothing is sent to it again. */
  "answers later": { required: false, methods: ["find"] },
  /** It can be asked how it sees a payment: what others did with it, and disputes. */
  "shows its picture": { required: false, methods: ["picture"] },
} as const satisfies Readonly<Record<string, Layer>>;

export type GatewayLayer = keyof typeof gatewayLayers;

/** All of them, those that each gateway has to have first. */
export const gatewayLayerNames = Object.keys(gatewayLayers) as readonly GatewayLayer[];
