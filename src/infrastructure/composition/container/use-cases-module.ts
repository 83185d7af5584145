import { ContainerModule } from "inversify";
import type { Logger } from "pino";
import { setTimeout as sleep } from "node:timers/promises";
import type { PaymentId } from "../../../domain/identifiers";
import { callerUseCases, liveUseCases, storeUseCases } from "./use-case-arguments";
import { tokens } from "./tokens";

export function useCasesModule(): ContainerModule {
  return new ContainerModule(({ bind }) => {
    for (const useCase of Object.values({ ...liveUseCases, ...callerUseCases, ...storeUseCases }))
      bind<object>(useCase).toSelf();
    bind(tokens.operations).toResolvedValue(
      (payments, gateway, accounts, clock, ids, traces) => ({
        payments,
        gateway,
        accounts,
        clock,
        ids,
        traces,
        random: Math.random,
        sleep: (ms) => sleep(ms),
      }),
      [tokens.payments, tokens.gateway, tokens.gatewayAccounts, tokens.clock, tokens.ids, tokens.workTraces],
    );
    bind(tokens.reconcilingFailed).toResolvedValue(logsFailureOf("reconciling"), [tokens.logger]);
    bind(tokens.expiringFailed).toResolvedValue(logsFailureOf("expiring"), [tokens.logger]);
  });
}

const logsFailureOf = (doing: string) => (logger: Logger) => (error: unknown, paymentId: PaymentId) =>
  logger.error({ err: error, paymentId }, `${doing} a payment failed; the next pass tries again`);
