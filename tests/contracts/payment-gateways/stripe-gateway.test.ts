import { describePaymentGatewayContract } from "./payment-gateway-contract";
import { stripeGatewayHarness } from "./stripe-gateway-harness";

describePaymentGatewayContract(stripeGatewayHarness);
