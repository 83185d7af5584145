import type { GatewayVerdict } from "../../../src/domain/payment/facts";
import type { Payment } from "../../../src/domain/payment/payment";
import { restored } from "../../../src/domain/payment/restored";
import { applyVerdict, settle } from "../../../src/domain/payment/settlement";
import { claimResend } from "../../../src/domain/payment/waiting";
import {
  after,
  capturingPayment,
  declines,
  expiredPayment,
  inReview,
  openOperation,
  step,
  succeeds,
} from "../../support/worlds/payments";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

const stored = ({ facts }: Payment): Payment => restored(facts);
const said = (payment: Payment, verdict: GatewayVerdict, ms = 0) =>
  applyVerdict(stored(payment), openOperation(payment).id, verdict, step(after(ms)));
const types = ({ newEvents }: Payment) => newEvents.map(({ type }) => type);

describe("an operation that the gateway has taken", () => {
  const pending = said(capturingPayment(), { outcome: "pending", reference: "cap_1" });

  it("is pending, with the gateway's name for it, its limit and the time of the first question", () => {
    expect(openOperation(pending)).toMatchObject({
      status: "pending",
      gatewayReference: "cap_1",
      attempts: 0,
      askedAt: after(0),
      dueAt: after(5 * MINUTE),
      decidesBy: after(7 * 24 * HOUR),
    });
    expect(types(pending)).toEqual(["capture.pending"]);
  });

  it("is claimed for no further send", () => {
    const { id } = openOperation(pending);
    expect(() => claimResend(stored(pending), id, step(after(MINUTE)))).toThrow("not sent again");
  });

  it.each<[string, GatewayVerdict]>([
    ["unknown", { outcome: "unknown", reason: "timeout" }],
    ["absent", { outcome: "absent" }],
    ["pending", { outcome: "pending" }],
  ])(
    "stays pending, with its place in the schedule, when a question in between is answered %s",
    (_, verdict) => {
      const asked = said(pending, verdict, MINUTE);
      expect(openOperation(asked)).toEqual({ ...openOperation(pending), askedAt: after(MINUTE) });
      expect(types(asked)).toEqual([]);
    },
  );

  it("begins its own schedule, however often it was asked about while it was unknown", () => {
    const unknown = said(capturingPayment(), { outcome: "unknown", reason: "timeout" });
    const later = said(unknown, { outcome: "unknown", reason: "timeout" }, 5_000);
    expect(openOperation(later)).toMatchObject({ status: "unknown", attempts: 1 });
    const taken = said(later, { outcome: "pending" }, HOUR);
    expect(openOperation(taken)).toMatchObject({ attempts: 0, dueAt: after(HOUR + 5 * MINUTE) });
  });

  it.each([
    [succeeds("cap_1"), "succeeded"],
    [declines(), "failed"],
  ] as const)("ends by %j, and has no limit any more", (answer, status) => {
    const { id } = openOperation(pending);
    const ended = settle(stored(pending), id, answer, step(after(HOUR)));
    const row = ended.facts.operations.find((one) => one.id === id);
    expect(row).toMatchObject({ status, dueAt: null, decidesBy: null });
  });

  it("of a time that has passed already is asked about once more before a person has to look", () => {
    const late = said(capturingPayment(), { outcome: "pending", decidesBy: after(-HOUR) });
    expect(openOperation(late).status).toBe("pending");
    expect(openOperation(said(late, { outcome: "pending" }, MINUTE)).status).toBe("needs_review");
  });

  it("in review stays there, whatever the gateway says that decides nothing", () => {
    const reviewed = inReview(capturingPayment());
    for (const verdict of [{ outcome: "pending" }, { outcome: "absent" }] as const)
      expect(said(reviewed, verdict).facts).toEqual(reviewed.facts);
  });

  it("is a release whose history says so", () => {
    const release = said(expiredPayment(), { outcome: "pending" });
    expect(release.newEvents).toMatchObject([{ type: "void.pending", data: { release: true } }]);
  });
});
