import { strongest } from "../../../src/application/observation/strongest-statement";
import { find, gatewayTrace } from "../../../src/application/operations/ask-gateway";
import { underLock, type OperationContext } from "../../../src/application/operations/operation-context";
import type { LockHold } from "../../../src/application/ports/lock-provider";
import type { FindAnswer, PaymentGateway } from "../../../src/application/ports/payment-gateway";
import type { GatewayPicture } from "../../../src/domain/payment/picture/gateway-picture";
import {
  authorizedPayment,
  authorizingPayment,
  capturingPayment,
  forged,
  NOON,
  openOperation,
} from "../../support/worlds/payments";

const payment = capturingPayment();
const capture = openOperation(payment);
const blank: GatewayPicture = {
  authorization: "open",
  authorizedUntil: null,
  captured: null,
  cancellation: null,
  refunds: [],
  disputes: [],
};

describe("what the gateway keeps for a key, beside its picture", () => {
  const shown = { captured: { reference: "ch_1", amount: capture.amount, operationId: capture.id } };
  const absent: FindAnswer = { outcome: "absent" };
  const unknown: FindAnswer = { outcome: "unknown", reason: "?" };
  const mismatch: FindAnswer = { outcome: "mismatch", evidence: "another amount" };
  const pending: FindAnswer = { outcome: "pending" };
  const declined: FindAnswer = { outcome: "declined", reason: "no" };
  const success = { outcome: "succeeded", reference: "ch_1" };
  const lapsed = { outcome: "authorization_gone", reason: "lapsed" };

  test.each<[string, FindAnswer, Partial<GatewayPicture> | null, object]>([
    ["what is recorded for the key stands whatever the picture shows", declined, shown, declined],
    ["what is pending under the key stands whatever the picture shows", pending, shown, pending],
    ["where there is no picture, the key's answer stands", absent, null, absent],
    ["where the key is not known, the picture decides", absent, shown, success],
    ["where nobody answers for the key, the picture decides", unknown, { authorization: "lapsed" }, lapsed],
    ["where what is found does not fit, the picture decides", mismatch, shown, success],
    ["a picture without it says no more than the key", unknown, { authorization: "open" }, unknown],
    ["an undecided picture says more than nothing", absent, { authorization: "undecided" }, pending],
    [
      "an undecided picture says less than what does not fit",
      mismatch,
      { authorization: "undecided" },
      mismatch,
    ],
  ])("%s", (_, found, picture, statement) => {
    expect(strongest(found, picture && { ...blank, ...picture }, capture)).toEqual(statement);
  });

  test("a picture says nothing of an authorization, so its key's answer stands", () => {
    expect(strongest(absent, blank, openOperation(authorizingPayment()))).toBe(absent);
  });
});

describe("what the history tells of a question", () => {
  const key = `${capture.id}.1`;

  test("what the history tells of a question is its key and the gateway's own words, with times as text", () => {
    expect(gatewayTrace("find", capture, { outcome: "pending", reference: "ch_1", decidesBy: NOON })).toEqual(
      {
        gateway: {
          asked: "find",
          key,
          answer: "pending",
          reference: "ch_1",
          decidesBy: NOON.toISOString(),
        },
      },
    );
    expect(gatewayTrace("capture", capture, { outcome: "declined", reason: "no" })).toEqual({
      gateway: { asked: "capture", key, answer: "declined", reason: "no" },
    });
  });

  test("what the history tells of a question never has the address at which the customer acts", () => {
    const answer = {
      outcome: "requires_action",
      reference: "auth_1",
      url: "https://bank.example/secret",
    } as const;
    expect(gatewayTrace("authorize", capture, answer)).toEqual({
      gateway: { asked: "authorize", key, answer: "requires_action", reference: "auth_1" },
    });
  });

  test("what the history tells of a lock is its token and the wait, and for whom, if there was one", () => {
    const context = {} as OperationContext;
    const hold = { fencingToken: 7n, waitedMs: 12 } as unknown as LockHold;
    const by = { by: { key: "k" } };
    expect(underLock(context, hold, { key: "k" }).trace).toEqual({
      ...by,
      lock: { fencingToken: "7", waitedMs: 12 },
    });
    const waited = { ...hold, waitedFor: { purpose: "refund", pid: 4 } } as unknown as LockHold;
    expect(underLock(context, waited, { key: "k" }).trace).toEqual({
      ...by,
      lock: { fencingToken: "7", waitedMs: 12, waitedFor: expect.stringContaining("refund") },
    });
  });
});

test("a question about an authorization that is pending has the name that the gateway gave it, and no other's has", async () => {
  const asked: unknown[] = [];
  const gateway = {
    find: async (request: { authorizationReference: unknown }) => {
      asked.push(request.authorizationReference);
      return { outcome: "absent" };
    },
  } as unknown as PaymentGateway;
  const authorizing = authorizingPayment();
  const named = { ...openOperation(authorizing), gatewayReference: "auth_pending" };
  await find(gateway, authorizing, named);
  await find(gateway, authorizedPayment({ authorizationReference: "auth_1" }), named);
  const nameless = forged(payment, { authorizationReference: null });
  await find(gateway, nameless, { ...capture, gatewayReference: "ch_1" });
  expect(asked).toEqual(["auth_pending", "auth_1", null]);
});
