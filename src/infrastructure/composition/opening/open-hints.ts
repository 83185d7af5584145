import type { Container } from "inversify";
import { setTimeout as delay } from "node:timers/promises";
import { BackgroundWork } from "../../../application/background/background-work";
import { CatchUp } from "../../../application/gateway-events/catch-up";
import { FollowHint } from "../../../application/gateway-events/follow-hint";
import { catchUpLimits, hintLimits } from "../../../application/gateway-events/hint-limits";
import type { HintObserver } from "../../../application/gateway-events/hint-observer";
import { ReceiveGatewayEvent } from "../../../application/gateway-events/receive-gateway-event";
import { WorkOnHints } from "../../../application/gateway-events/work-on-hints";
import type { SignedGatewayEvents } from "../../../application/ports/gateway-events/gateway-event-source";
import { ObservePayment } from "../../../application/use-cases/observe-payment";
import type { GatewayEventUseCases } from "../../../interfaces/http/endpoints/gateway/gateway-event-parts";
import { hintGauges, hintTelemetry } from "../../telemetry/hint-telemetry";
import { tokens } from "../container/tokens";

export interface OpenHints {
  readonly useCases: GatewayEventUseCases;
  /** Follows hints, and catches up, until `close`. */
  start(): void;
  close(): Promise<void>;
}

/** Hints of the gateway at this instance; nothing where the gateway says nothing by itself. */
export function openHints(container: Container): OpenHints {
  const events = container.get(tokens.gatewayEvents);
  if (events === undefined) return { useCases: {}, start: () => {}, close: async () => {} };
  const store = container.get(tokens.hintStore);
  const clock = container.get(tokens.clock);
  const registry = container.get(tokens.metrics);
  const observer = hintTelemetry(registry, container.get(tokens.logger));
  hintGauges(registry, store, () => clock.now());
  const work = new WorkOnHints({
    store,
    followHint: new FollowHint(
      container.get(tokens.locks),
      container.get(tokens.operations),
      container.get(ObservePayment),
    ),
    clock,
    monotonicMs: () => performance.now(),
    ids: container.get(tokens.ids),
    observer,
    limits: hintLimits,
  });
  const onAccepted = work.nudge;
  const catchUp = new CatchUp({
    events: events.list,
    store,
    accounts: container.get(tokens.merchantAccounts),
    clock,
    observer,
    limits: catchUpLimits,
    onAccepted,
  });
  const receiverOf = (signed: SignedGatewayEvents) =>
    new ReceiveGatewayEvent(signed, store, clock, observer, onAccepted);
  const receiveGatewayEvent = events.signed === null ? undefined : receiverOf(events.signed);
  const receiveAccountEvent = receiverOf(events.signedByAccount);
  const catchingUp = catchingUpOf(container, catchUp, observer);
  return {
    useCases: { receiveGatewayEvent, receiveAccountEvent, catchUp },
    start: () => {
      work.start();
      catchingUp?.start();
    },
    close: async () => {
      await Promise.all([catchingUp?.stop(), work.stop()]);
    },
  };
}

function catchingUpOf(
  container: Container,
  catchUp: CatchUp,
  { failed }: Pick<HintObserver, "failed">,
): BackgroundWork | undefined {
  const everyMs = container.get(tokens.configuration).settings.gatewayCatchUp.value * 1_000;
  const logger = container.get(tokens.logger);
  if (everyMs === 0) return undefined;
  return new BackgroundWork({
    passes: [{ name: "gateway events", run: (signal) => catchUp.execute(everyMs, signal) }],
    intervalMs: Math.min(everyMs, catchUpLimits.lookMs),
    sleep: (ms, signal) => delay(ms, undefined, { signal }).catch(() => {}),
    onReport: (pass, report) => {
      if (report.done > 0) logger.info({ pass, ...report }, "events of the gateway came by its list");
    },
    onError: (_pass, error) => failed(error),
  });
}
