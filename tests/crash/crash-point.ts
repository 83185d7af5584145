import type { GatewayEventList } from "../../src/application/ports/gateway-events/gateway-event-source";
import type { ClaimedHint, HintStore } from "../../src/application/ports/gateway-events/hint-store";
import type { PaymentGateway } from "../../src/application/ports/payment-gateway";
import type { PaymentRepository } from "../../src/application/ports/payment-repository";
import type { Payment } from "../../src/domain/payment/payment";
import type { PaymentEvent } from "../../src/domain/payment/events";
import { writeSync } from "node:fs";

/**
 * The steps of an operation: its intent, the question whether the gateway knows it, the claim of a resend, the send, its
 * end or that it goes before a person, and that person's verdict; the gateway's picture, and what is written of it. And
 * those of a hint: it is received, lent to whoever follows it, and done with; or read in the gateway's list, whose
 * position then moves.
 */
export type CrashStep =
  | "intent"
  | "find"
  | "claim"
  | "send"
  | "settle"
  | "verdict"
  | "picture"
  | "observe"
  | "receive"
  | "lend"
  | "done with"
  | "list"
  | "position";
export type CrashPoint = `${"before" | "after"} ${CrashStep}`;

/** What is printed for each payment that has come to its point. */
export const ARRIVED = "arrived";

const moneyCalls = new Set(["authorize", "capture", "void", "refund"]);

/** By all its names: a payment's id, and what the gateway calls its authorization. */
export type Names = readonly string[];

export interface Arrivals {
  readonly point: CrashPoint;
  /** How many payments have come to the point when the process dies; those that come later pass. */
  readonly arrivals: number;
  /** Those that it is about; others pass. Left out: all. */
  readonly only?: readonly Names[];
}

/**
 * Kills this process when so many payments have come to each of some points of their ways. Those that come first wait
 * there: at the kill each of them is exactly at its point.
 */
export class Crash {
  private readonly arrived = new Map<CrashPoint, Set<string>>();
  /** What callers call a payment, by its id: nobody knows an id before the payment is there. */
  private readonly references = new Map<string, string>();

  constructor(private readonly expected: readonly Arrivals[]) {
    for (const { point } of expected) this.arrived.set(point, new Set());
  }

  inStore(payments: PaymentRepository): PaymentRepository {
    return around(payments, this.pass, (name, args) => {
      if (name !== "save") return null;
      const payment = args[0] as Payment;
      if (payment.facts.reference !== null) this.references.set(payment.facts.id, payment.facts.reference);
      const step = stepOf(payment);
      return step === null ? null : { step, whose: [payment.facts.id] };
    });
  }

  inGateway(gateway: PaymentGateway): PaymentGateway {
    return around(gateway, this.pass, (name, args) => {
      const step = moneyCalls.has(name) ? "send" : name === "find" || name === "picture" ? name : null;
      return step === null ? null : { step, whose: [(args[0] as { paymentId: string }).paymentId] };
    });
  }

  inHints(hints: HintStore): HintStore {
    return around(hints, this.pass, (name, args) => {
      switch (name) {
        case "receive":
          return { step: "receive", whose: referencesIn(args[0] as readonly ClaimedHint[]) };
        case "settle":
          return { step: "done with", whose: referencesIn([args[1] as ClaimedHint]) };
        case "claim":
          return { step: "lend", whose: (lent) => referencesIn(lent as readonly ClaimedHint[]) };
        case "caughtUp":
          return { step: "position", whose: ["the list"] };
        default:
          return null;
      }
    });
  }

  inList(list: GatewayEventList): GatewayEventList {
    return around(list, this.pass, (name) =>
      name === "page" ? { step: "list", whose: ["the list"] } : null,
    );
  }

  private readonly pass = async (point: CrashPoint, whose: readonly string[]): Promise<void> => {
    const expected = this.expected.find((one) => one.point === point);
    const arrived = this.arrived.get(point);
    if (expected === undefined || arrived === undefined || arrived.size >= expected.arrivals) return;
    const { only } = expected;
    const here = only === undefined ? whose : whose.flatMap((name) => this.ownerOf(name, only));
    if (here.length === 0) return;
    for (const one of here) arrived.add(one);
    writeSync(1, `${ARRIVED}\n`.repeat(here.length));
    if (this.expected.every((one) => this.arrived.get(one.point)!.size >= one.arrivals)) {
      writeSync(1, `crashing ${this.expected.map((one) => one.point).join(", ")}\n`);
      process.kill(process.pid, "SIGKILL");
    }
    await new Promise(() => {});
  };

  private ownerOf(name: string, all: readonly Names[]): readonly string[] {
    const reference = this.references.get(name) ?? name;
    return all.find((names) => names.includes(name) || names.includes(reference))?.slice(0, 1) ?? [];
  }
}

function referencesIn(hints: readonly Pick<ClaimedHint, "reference">[]): readonly string[] {
  return hints.map(({ reference }) => reference);
}

/** What a save is about, by the events that it writes. */
function stepOf({ newEvents }: Payment): CrashStep | null {
  const wrote = (ending: RegExp) => newEvents.some(({ type }) => ending.test(type));
  if (newEvents.some(({ type, data }) => type === "review.resolved" && data["resolvedBy"] === "operator"))
    return "verdict";
  const byPicture = ({ data }: PaymentEvent) =>
    (data["gateway"] as { readonly asked?: string } | undefined)?.asked === "picture";
  if (newEvents.some(byPicture)) return "observe";
  if (wrote(/\.resent$/)) return "claim";
  if (wrote(/^(authorize|capture|void|refund)\.(succeeded|failed|unknown|pending|not_sent)$/))
    return "settle";
  if (wrote(/^operation\.needs_review$/)) return "settle";
  return wrote(/\.started$/) ? "intent" : null;
}

interface SeenCall {
  readonly step: CrashStep;
  /** Whose step it is; where only its result tells that, there is no point before it. */
  readonly whose: readonly string[] | ((result: unknown) => readonly string[]);
}

function around<T extends object>(
  target: T,
  pass: (point: CrashPoint, whose: readonly string[]) => Promise<void>,
  see: (name: string, args: readonly unknown[]) => SeenCall | null,
): T {
  return new Proxy(target, {
    get(object, name) {
      const member: unknown = Reflect.get(object, name, object);
      if (typeof member !== "function") return member;
      return async (...args: unknown[]) => {
        const seen = see(String(name), args);
        if (seen === null) return Reflect.apply(member, object, args) as unknown;
        const { step, whose } = seen;
        if (typeof whose !== "function") await pass(`before ${step}`, whose);
        const result: unknown = await Reflect.apply(member, object, args);
        await pass(`after ${step}`, typeof whose === "function" ? whose(result) : whose);
        return result;
      };
    },
  });
}
