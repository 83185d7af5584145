import { describeGatewayPictureContract } from "./gateway-picture-contract";
import { describePaymentGatewayContract } from "./payment-gateway-contract";
import { stripeGatewayHarness } from "./stripe-gateway-harness";

describePaymentGatewayContract(stripeGatewayHarness);
describeGatewayPictureContract(stripeGatewayHarness);
