import { inTime } from "../../../application/in-time";
import type {
  AuthorizationLookup,
  LookupAnswer,
  LookupRequest,
} from "../../../application/ports/authorization-lookup";
import type {
  AuthorizeRequest,
  FindAnswer,
  FindRequest,
  GatewayAnswer,
  MovementRequest,
  PaymentGateway,
  PictureAnswer,
  PictureRequest,
} from "../../../application/ports/payment-gateway";
import type { GatewayLayer } from "../contract/gateway-layers";
import { checkedAnswer, checkedFind, checkedLookup } from "./checked-answers";
import { checkedPicture } from "./checked-picture";
import { inPrint } from "./in-print";
import type { GatewayOptions, OwnGateway } from "./own-gateway";

const CLOSE_MS = 5_000;

/**
 * A gateway that somebody else has written. Excludes nobody and survives what that one survives; it keeps what makes no
 * sense, and what is thrown, from being taken for an answer.
 */
export class CheckedGateway implements PaymentGateway, AuthorizationLookup {
  readonly remembersKeysForMs: number;
  readonly decidesWithinMs: number | undefined;
  readonly picture?: (request: PictureRequest) => Promise<PictureAnswer>;
  private readonly has: ReadonlySet<GatewayLayer>;

  constructor(
    private readonly gateway: OwnGateway,
    private readonly options: GatewayOptions = {},
  ) {
    this.remembersKeysForMs = gateway.remembersKeysForMs;
    this.decidesWithinMs = gateway.decidesWithinMs;
    this.has = new Set(gateway.has);
    if (this.has.has("shows its picture"))
      this.picture = (request) => this.asked(async () => checkedPicture(await gateway.picture?.(request)));
  }

  authorize(request: AuthorizeRequest): Promise<GatewayAnswer> {
    return this.sent(() => this.gateway.authorize(request));
  }

  capture(request: MovementRequest): Promise<GatewayAnswer> {
    return this.sent(() => this.gateway.capture(request));
  }

  void(request: MovementRequest): Promise<GatewayAnswer> {
    return this.sent(() => this.gateway.void(request));
  }

  refund(request: MovementRequest): Promise<GatewayAnswer> {
    return this.sent(() => this.gateway.refund(request));
  }

  async find(request: FindRequest): Promise<FindAnswer> {
    // Not "absent": nobody has looked.
    if (!this.has.has("can be found again") && !this.has.has("answers later"))
      return { outcome: "unknown", reason: "this gateway cannot be asked" };
    return this.asked(async () => checkedFind(await this.gateway.find?.(request)));
  }

  async lookupAuthorization(request: LookupRequest): Promise<LookupAnswer> {
    const { gateway } = this;
    // What cannot be looked up exists for nobody.
    if (gateway.lookupAuthorization === undefined) return { outcome: "not_found" };
    return this.asked(async () => checkedLookup(await gateway.lookupAuthorization?.(request)));
  }

  async close(): Promise<void> {
    await inTime(CLOSE_MS, (async () => this.gateway.close?.())(), () => undefined);
  }

  /** What says nothing later is not waited for: it is sent again under its key. */
  private async sent(send: () => Promise<GatewayAnswer>): Promise<GatewayAnswer> {
    const answer = await this.asked(async () => checkedAnswer(await send()));
    if (answer.outcome !== "pending" || this.has.has("answers later")) return answer;
    return { outcome: "unknown", reason: 'it answered pending without the layer "answers later"' };
  }

  /** However it fails, that is no answer. */
  private async asked<Answer>(
    ask: () => Promise<Answer>,
  ): Promise<Answer | { readonly outcome: "unknown"; readonly reason: string }> {
    try {
      return inPrintAnswer(await ask(), this.options);
    } catch (error) {
      return { outcome: "unknown", reason: `the gateway module failed: ${inPrint(error, this.options)}` };
    }
  }
}

/** Its words are shown to callers and stored, so they are without the values of its options, too. */
function inPrintAnswer<Answer>(answer: Answer, options: GatewayOptions): Answer {
  const words = (value: unknown, name?: string): unknown => {
    if (typeof value === "string")
      return name === "reason" || name === "evidence" ? inPrint(value, options) : value;
    if (Array.isArray(value)) return value.map((member) => words(member));
    if (typeof value !== "object" || value === null || value instanceof Date) return value;
    return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, words(member, key)]));
  };
  return words(answer) as Answer;
}
