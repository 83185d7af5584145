import type {
  AuthorizationLookup,
  LookupAnswer,
  LookupRequest,
} from "../../../src/application/ports/authorization-lookup";
import type {
  AuthorizeRequest,
  FindAnswer,
  FindRequest,
  GatewayAnswer,
  MovementRequest,
  PaymentGateway,
} from "../../../src/application/ports/payment-gateway";
import type { SeededRandom } from "../lease/seeded-random";

const silence = { outcome: "unknown", reason: "no answer" } as const;

/** Between us and the gateway: loses requests and answers, delivers late, after their senders are gone, and twice. */
export class UnreliableNetwork implements PaymentGateway, AuthorizationLookup {
  readonly remembersKeysForMs: number;
  readonly picture?: NonNullable<PaymentGateway["picture"]>;
  /** On their way, for nobody. */
  private readonly late: (() => Promise<GatewayAnswer>)[] = [];

  constructor(
    private readonly gateway: PaymentGateway & AuthorizationLookup,
    private readonly random: SeededRandom,
    private readonly faultRate: () => number,
    drawsPictures = false,
  ) {
    this.remembersKeysForMs = gateway.remembersKeysForMs;
    if (drawsPictures) {
      this.picture = async (request) =>
        this.random.chance(this.faultRate()) ? silence : ((await gateway.picture?.(request)) ?? silence);
    }
  }

  authorize(request: AuthorizeRequest): Promise<GatewayAnswer> {
    return this.deliver(() => this.gateway.authorize(request));
  }

  capture(request: MovementRequest): Promise<GatewayAnswer> {
    return this.deliver(() => this.gateway.capture(request));
  }

  void(request: MovementRequest): Promise<GatewayAnswer> {
    return this.deliver(() => this.gateway.void(request));
  }

  refund(request: MovementRequest): Promise<GatewayAnswer> {
    return this.deliver(() => this.gateway.refund(request));
  }

  async find(request: FindRequest): Promise<FindAnswer> {
    return this.random.chance(this.faultRate()) ? silence : this.gateway.find(request);
  }

  async lookupAuthorization(request: LookupRequest): Promise<LookupAnswer> {
    return this.random.chance(this.faultRate()) ? silence : this.gateway.lookupAuthorization(request);
  }

  /** One that was late arrives now. */
  async arrive(): Promise<void> {
    const [letter] = this.late.splice(Math.floor(this.random.next() * this.late.length), 1);
    await letter?.();
  }

  loseWhatIsLate(): void {
    this.late.length = 0;
  }

  async allArrive(): Promise<void> {
    while (this.late.length > 0) await this.arrive();
  }

  private async deliver(send: () => Promise<GatewayAnswer>): Promise<GatewayAnswer> {
    if (!this.random.chance(this.faultRate())) return send();
    switch (this.random.pick(["refused", "lost", "answer lost", "late", "late", "twice"] as const)) {
      case "refused":
        return { outcome: "not_sent", reason: "connection refused" };
      case "lost":
        return silence;
      case "answer lost":
        await send();
        return silence;
      case "late":
        this.late.push(send);
        return silence;
      case "twice": {
        const answer = await send();
        // What certainly did not arrive has no copy on its way either.
        if (answer.outcome !== "not_sent") this.late.push(send);
        return answer;
      }
    }
  }
}
