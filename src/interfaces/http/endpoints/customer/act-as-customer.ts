import { z } from "zod";
import { WITHOUT_WAITING } from "../../../../application/background/background-pass";
import type { PaymentId } from "../../../../domain/identifiers";
import { PaymentError } from "../../../../domain/payment/errors";
import { requestSchema } from "../../openapi/schema-names";
import { RequestError } from "../../problems/request-error";
import { assertOfThisSite } from "../../server/form-of-this-site";
import { bodyBytes } from "../../requests/json-body";
import { validBody } from "../../requests/validation";
import { text } from "../../requests/wire-values";
import { endpoint } from "../endpoint";
import { CUSTOMER_PAGES, type CustomerParts, type CustomerWorld } from "./customer-parts";
import { protect } from "./customer-page";
import { customerProblemPage } from "./customer-problem-page";

const FORM = "application/x-www-form-urlencoded";
const LIMIT_BYTES = 4 * 1024;
/** For the payment's history: why the gateway was asked. */
const ACTOR = { customer: true } as const;

const customerDecision = requestSchema(
  "CustomerDecision",
  z.strictObject({ secret: text(64), decision: z.enum(["confirm", "decline"]) }),
);

export const actAsCustomer = endpoint<CustomerParts>()({
  method: "post",
  path: `${CUSTOMER_PAGES}/payments/:paymentId`,
  operationId: "actAsCustomer",
  tag: "Simulated gateway",
  summary: "Confirm or decline a payment, as its customer",
  description:
    "What the buttons of the page send. The first decision counts; every one leads back to the payment's `returnUrl`. A form of " +
    "another site is refused, even with the right secret.",
  access: "open",
  unreadBody: customerDecision,
  unreadBodyType: FORM,
  answers: {
    303: { description: "To the payment's `returnUrl`.", contentType: "text/plain", headers: ["Location"] },
  },
  problems: [
    "invalid_payment_id",
    "invalid_request",
    "form_of_another_site",
    "payment_not_found",
    "body_too_large",
    "malformed_request",
    "unsupported_media_type",
    "service_unavailable",
    "route_not_found",
  ],
  problemPage: customerProblemPage,
  async handle({ request, response, ids }, { inWorld, ownUrl }) {
    assertOfThisSite(request, ownUrl());
    if (!request.is(FORM)) throw new RequestError("unsupported_media_type", `Send the form as ${FORM}.`);
    const form = new URLSearchParams((await bodyBytes(request, response, LIMIT_BYTES)).toString("utf8"));
    const { secret, decision } = validBody(customerDecision, Object.fromEntries(form));
    const page = await inWorld(ids, async (world) => {
      const decided = await world.customerPages.decide(ids.paymentId, secret, decision);
      if (decided === null) throw new PaymentError("payment_not_found", { paymentId: ids.paymentId });
      await letItBeKnown(world, ids.paymentId);
      return decided;
    });
    protect(response, page);
    response.setHeader("Location", new URL(page.returnUrl).href);
    return { status: 303, text: "", contentType: "text/plain; charset=utf-8" };
  },
});

/** Whoever the customer comes back to finds the payment settled. Where that fails, the gateway is asked as it is due. */
async function letItBeKnown({ observePayment }: CustomerWorld, paymentId: PaymentId): Promise<void> {
  try {
    await observePayment.execute(paymentId, { ...WITHOUT_WAITING, actor: ACTOR });
  } catch {
    // The decision stands at the gateway, and that is all that the customer came for.
  }
}
