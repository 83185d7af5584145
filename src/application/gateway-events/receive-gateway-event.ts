import type { Clock } from "../ports/clock";
import type { SignedGatewayEvents } from "../ports/gateway-events/gateway-event-source";
import type { HintStore } from "../ports/gateway-events/hint-store";
import type { HintObserver, Reception } from "./hint-observer";

/** Takes an event that the gateway sends: checks who has signed it, writes down whom it is about, and says that it came. */
export class ReceiveGatewayEvent {
  constructor(
    private readonly events: SignedGatewayEvents,
    private readonly store: Pick<HintStore, "receive">,
    private readonly clock: Clock,
    private readonly observer: Pick<HintObserver, "received">,
    /** There is something to work on. */
    private readonly onAccepted: () => void,
  ) {}

  /**
   * Rejects on a signature that no body can make right. What it resolves with takes the body, and rejects on one that does not
   * fit. `account`: whose own endpoint was called.
   */
  async expect(
    signature: string | undefined,
    account?: string,
  ): Promise<(body: Uint8Array) => Promise<Reception>> {
    const read = await this.events.expect(signature, this.clock.now(), account);
    return async (body) => {
      const hint = read(body);
      const reception = hint === null ? "ignored" : await this.keep(hint);
      this.observer.received("webhook", reception, 1);
      return reception;
    };
  }

  private async keep(hint: Parameters<HintStore["receive"]>[0][number]): Promise<Reception> {
    if ((await this.store.receive([hint], this.clock.now())) === 0) return "duplicate";
    this.onAccepted();
    return "accepted";
  }
}
