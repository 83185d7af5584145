import {
  StripeTransport,
  StripeTransportError,
} from "../../../src/infrastructure/gateways/stripe/stripe-transport";
import type { StripeStandIn } from "./stripe-stand-in";

type Response = Awaited<ReturnType<StripeTransport["makeRequest"]>>;

/** The official client in front of the stand-in without a socket in between: for many thousands of short lives. */
export class StripeInProcess extends StripeTransport {
  constructor(private readonly standIn: StripeStandIn) {
    super();
  }

  override readonly makeRequest: StripeTransport["makeRequest"] = async (
    _host,
    _port,
    path,
    method,
    headers,
    body,
  ) => {
    const key = String((headers as Record<string, unknown>)["Idempotency-Key"] ?? "");
    const answer = this.standIn.exchange(method, path, String(body ?? ""), key);
    if (answer === null) throw new StripeTransportError("timeout", true);
    return {
      getStatusCode: () => answer.status,
      getHeaders: () => ({ "request-id": "req_1" }),
      getRawResponse: () => answer,
      toStream: () => {
        throw new Error("nothing here is streamed");
      },
      toJSON: async () => structuredClone(answer.body),
      dispose: () => undefined,
    } as unknown as Response;
  };
}
