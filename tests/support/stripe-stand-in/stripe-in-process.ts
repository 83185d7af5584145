import { StripeGateway } from "../../../src/infrastructure/gateways/stripe/stripe-gateway";
import {
  StripeTransport,
  StripeTransportError,
} from "../../../src/infrastructure/gateways/stripe/stripe-transport";
import type { StripeStandIn } from "./stripe-stand-in";

interface Options {
  readonly idempotencyKey?: string;
}

/**
 * The gateway in front of the stand-in, with neither a socket nor the official client in between: for many thousands of
 * short lives. What these two add, the tests of the gateway itself go through.
 */
export function stripeInProcess(standIn: StripeStandIn): StripeGateway {
  const ask = async (method: string, path: string, params: object, { idempotencyKey = "" }: Options = {}) => {
    const form = formOf(params);
    const url = method === "GET" ? `${path}?${form.toString()}` : path;
    const answer = standIn.exchange(method, url, method === "GET" ? "" : form.toString(), idempotencyKey);
    if (answer === null) throw failure({ detail: new StripeTransportError("timeout", true) });
    if (answer.status < 400) return answer.body;
    const { type, ...error } = (answer.body as { readonly error: { readonly type: string } }).error;
    throw failure({ statusCode: answer.status, rawType: type, ...error });
  };
  const get = (path: string) => (params: object) => ask("GET", path, params);
  const client = {
    paymentIntents: {
      create: (params: object, options: Options) => ask("POST", "/v1/payment_intents", params, options),
      capture: (id: string, params: object, options: Options) =>
        ask("POST", `/v1/payment_intents/${id}/capture`, params, options),
      cancel: (id: string, params: object, options: Options) =>
        ask("POST", `/v1/payment_intents/${id}/cancel`, params, options),
      retrieve: (id: string, params: object) => ask("GET", `/v1/payment_intents/${id}`, params),
      search: get("/v1/payment_intents/search"),
    },
    refunds: {
      create: (params: object, options: Options) => ask("POST", "/v1/refunds", params, options),
      list: get("/v1/refunds"),
    },
    disputes: { list: get("/v1/disputes") },
    events: { list: get("/v1/events") },
  };
  type Made = new (stripe: typeof client, transport: StripeTransport) => StripeGateway;
  return new (StripeGateway as unknown as Made)(client, new StripeTransport());
}

/** As the official client throws it, as far as it is read. */
function failure(facts: object): Error {
  return Object.assign(new Error("Stripe has refused"), facts);
}

/** `{ metadata: { a: "b" } }` → `metadata[a]=b` */
function formOf(params: object): URLSearchParams {
  const form = new URLSearchParams();
  const add = (name: string, value: unknown): void => {
    if (typeof value === "object" && value !== null) {
      for (const [key, member] of Object.entries(value)) add(name === "" ? key : `${name}[${key}]`, member);
    } else form.append(name, String(value));
  };
  add("", params);
  return form;
}
