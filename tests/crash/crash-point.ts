import type { PaymentGateway } from "../../src/application/ports/payment-gateway";
import type { PaymentRepository } from "../../src/application/ports/payment-repository";
import type { Payment } from "../../src/domain/payment/payment";
import type { PaymentEvent } from "../../src/domain/payment/events";
import { writeSync } from "node:fs";

/**
 * The steps of an operation: its intent, the question whether the gateway knows it, the claim of a resend, the send, its
 * end or that it goes before a person, and that person's verdict; the gateway's picture, and what is written of it.
 */
export type CrashStep = "intent" | "find" | "claim" | "send" | "settle" | "verdict" | "picture" | "observe";
export type CrashPoint = `${"before" | "after"} ${CrashStep}`;

const moneyCalls = new Set(["authorize", "capture", "void", "refund"]);

/**
 * Kills this process when so many operations have come to a point of their way. Those that come first wait there: at the
 * kill each of them is exactly at that point.
 */
export class Crash {
  private arrived = 0;

  constructor(
    private readonly point: CrashPoint,
    private readonly arrivals: number,
  ) {}

  inStore(payments: PaymentRepository): PaymentRepository {
    return around(payments, (name, args) => (name === "save" ? stepOf(args[0] as Payment) : null), this.pass);
  }

  inGateway(gateway: PaymentGateway): PaymentGateway {
    return around(
      gateway,
      (name) => (moneyCalls.has(name) ? "send" : name === "find" || name === "picture" ? name : null),
      this.pass,
    );
  }

  private readonly pass = async (point: CrashPoint): Promise<void> => {
    if (point !== this.point) return;
    this.arrived += 1;
    if (this.arrived === this.arrivals) {
      writeSync(1, `crashing ${point} with ${this.arrived}\n`);
      process.kill(process.pid, "SIGKILL");
    }
    await new Promise(() => {});
  };
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
  if (wrote(/^(authorize|capture|void|refund)\.(succeeded|failed|unknown|not_sent)$/)) return "settle";
  if (wrote(/^operation\.needs_review$/)) return "settle";
  return wrote(/\.started$/) ? "intent" : null;
}

function around<T extends object>(
  target: T,
  stepOfCall: (name: string, args: readonly unknown[]) => CrashStep | null,
  pass: (point: CrashPoint) => Promise<void>,
): T {
  return new Proxy(target, {
    get(object, name) {
      const member: unknown = Reflect.get(object, name, object);
      if (typeof member !== "function") return member;
      return async (...args: unknown[]) => {
        const step = stepOfCall(String(name), args);
        if (step === null) return Reflect.apply(member, object, args) as unknown;
        await pass(`before ${step}`);
        const result: unknown = await Reflect.apply(member, object, args);
        await pass(`after ${step}`);
        return result;
      };
    },
  });
}
