/** `holdfast/gateway-contract`: the promises of the `PaymentGateway` port as tests, for gateways of your own. */
export {
  describePaymentGateway,
  gatewayContract,
  type GatewayTestFramework,
} from "./infrastructure/gateways/contract/describe-payment-gateway";
export {
  runGatewayContractTest,
  type GatewayContractTest,
  type GatewayContractWorld,
  type GatewayMovement,
  type GatewaySituation,
  type GatewayUnderTest,
  type OpenedGateway,
} from "./infrastructure/gateways/contract/contract-test";
