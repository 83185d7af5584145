import { endpoint } from "../../../../src/interfaces/http/endpoints/endpoint";
import { capturePayment } from "../../../../src/interfaces/http/endpoints/payments/capture-payment";
import { movement } from "../../../../src/interfaces/http/endpoints/payments/movement";
import { partOfAmount } from "../../../../src/interfaces/http/endpoints/payments/part-of-amount";
import {
  capturedAnswer,
  onePaymentAnswer,
} from "../../../../src/interfaces/http/endpoints/payments/payment-answers";
import type { PaymentParts } from "../../../../src/interfaces/http/endpoints/payments/payment-parts";

const show = {
  method: "get",
  operationId: "planted",
  tag: "Payments",
  summary: "Planted",
  access: "merchant",
  answers: { 200: { description: "Planted.", schema: onePaymentAnswer } },
  problems: [],
} as const;

const capture = {
  name: "capture",
  path: "/payments/:paymentId/planted",
  operationId: "planted",
  summary: "Planted",
  description: "Planted.",
  body: partOfAmount(),
  done: "Planted.",
  answer: capturedAnswer,
  problems: [],
  move: () => Promise.reject(new Error("planted")),
} as const;

describe("an endpoint", () => {
  it("has a path whose parameters the router can parse, or does not compile", () => {
    const planted = () => [
      endpoint<PaymentParts>()({
        ...show,
        // @ts-expect-error -- the parameter is spelt `paymentId`
        path: "/payments/:paymentID",
        handle: () => Promise.reject(new Error("planted")),
      }),
    ];
    expect(planted).toBeInstanceOf(Function);
    expect(capturePayment.path).toBe("/payments/:paymentId/capture");
  });

  it("answers a movement of money as its schema says, or does not compile", () => {
    const planted = () => [
      // @ts-expect-error -- the answer calls it `capture`
      movement({ ...capture, show: (captured, payment) => ({ captured, payment }) }),
      // @ts-expect-error -- the payment is missing
      movement({ ...capture, show: (operation) => ({ capture: operation }) }),
    ];
    expect(planted).toBeInstanceOf(Function);
  });
});
