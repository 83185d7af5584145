import type { ApiKeyStore } from "../../../src/application/ports/api-key-store";
import type { AuthorizationLookup } from "../../../src/application/ports/authorization-lookup";
import type { GatewayEventList } from "../../../src/application/ports/gateway-events/gateway-event-source";
import type { HintStore } from "../../../src/application/ports/gateway-events/hint-store";
import type { EventFeed } from "../../../src/application/ports/events/event-feed";
import type { WebhookSender } from "../../../src/application/ports/events/webhook-sender";
import type { WebhookStore } from "../../../src/application/ports/events/webhook-store";
import type { PaymentGateway } from "../../../src/application/ports/payment-gateway";
import {
  StoreUnavailableError,
  type PaymentRepository,
} from "../../../src/application/ports/payment-repository";
import {
  TransientLeaseStoreError,
  type LeaseRecordStore,
} from "../../../src/infrastructure/locking/lease/protocol/lease-record-store";
import type { SeededRandom } from "../lease/seeded-random";
import type { Fault } from "./distance";
import type { ToldEvent } from "./listeners";
import type { VirtualTime } from "./time/virtual-time";

/** What there is outside of every process, and stays when they are gone. */
export interface Ground {
  readonly time: VirtualTime;
  readonly random: SeededRandom;
  readonly weather: Weather;
  readonly payments: PaymentRepository;
  readonly feed: EventFeed;
  /** All that the feed has, as it tells it. */
  readonly events: () => readonly ToldEvent[];
  readonly webhooks: WebhookStore;
  readonly hints: HintStore;
  readonly apiKeys: ApiKeyStore;
  readonly gateway: PaymentGateway & AuthorizationLookup;
  readonly gatewayEvents: GatewayEventList;
  readonly receivers: WebhookSender;
  readonly leases: LeaseRecordStore;
  readonly locks: LocksOfWorld;
  /** Passes of the background are so far apart. */
  readonly passSeconds: number;
  readonly nextId: () => string;
  readonly count: (what: Counted) => void;
  /** Something happened that nothing in this world explains. */
  readonly complain: (what: string) => void;
}

/** `memory`: one process at a time. `lease`: several, apart by their leases. `none`: several, and nothing keeps them apart. */
export type LocksOfWorld = "memory" | "lease" | "none";

/** What counts as an operation: a request, an attempt to deliver, a pass of the background, a hint that was worked on. */
export type Counted = "requests" | "deliveries" | "passes" | "hints";

const WRITES =
  /^(save|create|change|delete|advance|enqueue|settle|receive|caughtUp|renew|giveBack|tend|write|remove)$/;
/** They are promised not to fail. */
const NEVER_FAILS = /^(changed|onReleased)$/;

/** How bad it is at the moment, for everything that can fail. */
export class Weather {
  /** How likely each thing that can fail is to. */
  faultRate = 0;
  /** Nothing that is stored can be reached. */
  isStoreAway = false;

  constructor(private readonly random: SeededRandom) {}

  /** Nothing fails any more. */
  clears(): void {
    this.faultRate = 0;
    this.isStoreAway = false;
  }

  readonly fault = (): number => this.faultRate;

  /** Not done, or done and nobody says so, or not done and nobody knows. */
  readonly ofStore = (method: string): Fault => {
    if (NEVER_FAILS.test(method)) return undefined;
    if (!this.isStoreAway && !this.random.chance(this.faultRate / 6)) return undefined;
    const none = new StoreUnavailableError("it does not answer");
    if (!WRITES.test(method)) return { when: "before", error: none };
    const isUnsure = this.random.chance(0.6);
    const error = isUnsure ? new StoreUnavailableError("its answer was lost", { outcome: "unknown" }) : none;
    const isDone = isUnsure && !this.isStoreAway && this.random.chance(0.7);
    return { when: isDone ? "after" : "before", error };
  };

  readonly ofLeases = (method: string): Fault => {
    if (NEVER_FAILS.test(method) || !this.random.chance(this.faultRate / 6)) return undefined;
    const when = this.random.chance(0.5) ? "after" : "before";
    return { when, error: new TransientLeaseStoreError("no answer") };
  };
}
