import type { AuthorizationLookup } from "../../../application/ports/authorization-lookup";
import type { PaymentGateway } from "../../../application/ports/payment-gateway";
import type { GatewayLayer } from "../contract/gateway-layers";

/** What the options of the configuration say, by their names in lower case: `HOLDFAST_GATEWAY_OPTION_BANK_URL` is `bank_url`. */
export type GatewayOptions = Readonly<Record<string, string | undefined>>;

/** What the default export of a gateway module is. What it rejects with keeps the program from starting. */
export type OpenGateway = (options: GatewayOptions) => OwnGateway | Promise<OwnGateway>;

/** A gateway, and what it can do. */
export interface OwnGateway
  extends
    Omit<PaymentGateway, "find">,
    /** Asked only if the gateway can be found again. */
    Partial<Pick<PaymentGateway, "find">>,
    /** Without it, no authorization can be imported. */
    Partial<AuthorizationLookup> {
  /** The layers of the contract (`holdfast/gateway-contract`) that it keeps. */
  readonly has: readonly GatewayLayer[];
  /** Called when the program ends. */
  close?(): Promise<void> | void;
}
