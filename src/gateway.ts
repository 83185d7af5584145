/** `holdfast/gateway`: what a gateway of your own is made of, for `--gateway module:<file>`. */
export type { GatewayOptions, OpenGateway, OwnGateway } from "./infrastructure/gateways/module/own-gateway";
export {
  gatewayLayerNames,
  gatewayLayers,
  type GatewayLayer,
} from "./infrastructure/gateways/contract/gateway-layers";
export type {
  ActionRequired,
  AuthorizeRequest,
  FindAnswer,
  FindRequest,
  GatewayAnswer,
  Mismatch,
  MovementRequest,
  PaymentGateway,
  PictureAnswer,
  PictureRequest,
  RecordedAnswer,
} from "./application/ports/payment-gateway";
export { disputeStatuses } from "./domain/payment/picture/gateway-picture";
export type {
  DisputeStatus,
  GatewayPicture,
  SeenCancellation,
  SeenDispute,
  SeenMovement,
  SeenRefund,
} from "./domain/payment/picture/gateway-picture";
export type {
  AuthorizationLookup,
  ForeignAuthorization,
  LookupAnswer,
  LookupRequest,
  SeenAuthorization,
} from "./application/ports/authorization-lookup";
export type { PendingAnswer } from "./domain/payment/facts";
export type { OperationKind } from "./domain/payment/operation";

/** Amounts, exact, in the minor unit of ISO 4217. The two that make one throw `InvalidValueError`. */
export {
  currencyExponent,
  formatMoney,
  isUnitCertain,
  money,
  parseCurrency,
  type Currency,
  type Money,
} from "./domain/money";
export { InvalidValueError, type InvalidValueCode } from "./domain/payment/errors";
