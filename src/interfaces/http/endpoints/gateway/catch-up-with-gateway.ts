import { z } from "zod";
import { CATCH_UP_CURSOR } from "../../../../application/gateway-events/catch-up-cursor";
import { answerSchema, requestSchema } from "../../openapi/schema-names";
import { instantIn } from "../../requests/wire-values";
import { endpoint } from "../endpoint";
import type { CatchUpParts } from "./gateway-event-parts";

const catchUpBody = requestSchema(
  "CatchUp",
  z.strictObject({
    since: instantIn,
    cursor: z
      .string()
      .regex(CATCH_UP_CURSOR, "is not a cursor")
      .optional()
      .meta({ description: "`nextCursor` of the previous answer." }),
  }),
);

const caughtUpAnswer = answerSchema(
  "CaughtUp",
  z.strictObject({
    events: z.int().meta({ description: "Events of the gateway on this page." }),
    accepted: z
      .int()
      .meta({ description: "Those that were not known: the gateway is asked about their payments." }),
    account: z
      .string()
      .nullable()
      .meta({ description: "The account whose list this page is of. Null: that of the server's own key." }),
    unread: z.string().optional().meta({
      description: "Why the list of this account could not be read. The next page is the next account's.",
    }),
    nextCursor: z
      .string()
      .nullable()
      .meta({ description: "The value for `cursor` while there are more, of this account or the next one." }),
  }),
);

export const catchUpWithGateway = endpoint<CatchUpParts>()({
  method: "post",
  path: "/gateway/catch-up",
  operationId: "catchUpWithGateway",
  tag: "Gateway events",
  summary: "Read the gateway's own lists of events since a time, page by page",
  description:
    "For events that no webhook has brought. The server does this by itself every few minutes from where it last ended; " +
    "Stripe keeps events for 30 days. The list of the server's own account comes first, then those of merchants' accounts. Only available with a gateway that has events.",
  access: "operator",
  body: catchUpBody,
  answers: { 200: { description: "One page, the newest events first.", schema: caughtUpAnswer } },
  problems: ["gateway_unavailable", "route_not_found"],
  async handle({ body: { since, cursor } }, { catchUp }) {
    const { next, account, events, accepted, unread } = await catchUp.page(since, cursor ?? null);
    const problem = unread === undefined ? {} : { unread };
    return { status: 200, body: { account, events, accepted, ...problem, nextCursor: next } };
  },
});
