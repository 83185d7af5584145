import type {
  FindAnswer,
  GatewayAnswer,
  PaymentGateway,
} from "../../../src/application/ports/payment-gateway";
import type { PaymentRepository } from "../../../src/application/ports/payment-repository";
import { InMemoryPaymentRepository } from "../../../src/infrastructure/persistence/in-memory-payment-repository";

/** A mistake that somebody could make in the engine, made between it and its ports. */
export interface PlantedMistake {
  readonly name: string;
  readonly profile: string;
  readonly plant?: (gateway: PaymentGateway) => PaymentGateway;
  readonly payments?: () => PaymentRepository;
}

export const plantedMistakes: readonly PlantedMistake[] = [
  {
    name: "what the gateway does not know is taken for what never happened",
    profile: "a storm",
    plant: (gateway) => ({
      ...passedOn(gateway),
      find: async (request): Promise<FindAnswer> => {
        const found = await gateway.find(request);
        return found.outcome === "absent" ? { outcome: "declined", reason: "never arrived" } : found;
      },
    }),
  },
  {
    name: "silence is taken for a request that was not sent",
    profile: "one server",
    plant: (gateway) => changed(gateway, (answer) => (answer.outcome === "unknown" ? notSent : answer)),
  },
  {
    name: "silence is taken for a refusal",
    profile: "one server",
    plant: (gateway) => changed(gateway, (answer) => (answer.outcome === "unknown" ? refused : answer)),
  },
  {
    name: "each send has a key of its own",
    profile: "one server",
    plant: (gateway) => {
      let sends = 0;
      const anew = <R extends { readonly gatewayKey: string }>(request: R): R => ({
        ...request,
        gatewayKey: `${request.gatewayKey}.${(sends += 1)}`,
      });
      return {
        ...passedOn(gateway),
        authorize: (request) => gateway.authorize(anew(request)),
        capture: (request) => gateway.capture(anew(request)),
        void: (request) => gateway.void(anew(request)),
        refund: (request) => gateway.refund(anew(request)),
      };
    },
  },
  {
    name: "neither a lock nor a guard in the store",
    profile: "no lock",
    payments: () => new InMemoryPaymentRepository([]),
  },
];

const notSent: GatewayAnswer = { outcome: "not_sent", reason: "timeout" };
const refused: GatewayAnswer = { outcome: "declined", reason: "timeout" };

function passedOn(gateway: PaymentGateway): PaymentGateway {
  return {
    remembersKeysForMs: gateway.remembersKeysForMs,
    authorize: (request) => gateway.authorize(request),
    capture: (request) => gateway.capture(request),
    void: (request) => gateway.void(request),
    refund: (request) => gateway.refund(request),
    find: (request) => gateway.find(request),
  };
}

function changed(gateway: PaymentGateway, change: (answer: GatewayAnswer) => GatewayAnswer): PaymentGateway {
  return {
    ...passedOn(gateway),
    authorize: async (request) => change(await gateway.authorize(request)),
    capture: async (request) => change(await gateway.capture(request)),
    void: async (request) => change(await gateway.void(request)),
    refund: async (request) => change(await gateway.refund(request)),
  };
}
