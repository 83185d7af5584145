import { describePaymentGateway } from "../../../src/gateway-contract";
import { stripeGatewayHarness } from "./stripe-gateway-harness";

describePaymentGateway({ describe, it }, stripeGatewayHarness);
