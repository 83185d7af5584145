import { StoreUnavailableError, InvalidCursorError } from "../../../../application/ports/payment-repository";
import { publicEventWire } from "../../../../application/public-events/public-event";
import { untilCallerGoes, whileCallerWaits } from "../../requests/caller-goes";
import { callerOf, contextOf } from "../../requests/request-context";
import { endpoint } from "../endpoint";
import type { PaymentParts } from "../payments/payment-parts";
import { eventFeedAnswer } from "./event-answers";
import {
  BEFORE_THE_FIRST,
  cursorIn,
  notACursor,
  readEventCursor,
  writeEventCursor,
  type EventCursor,
} from "./event-cursor";
import { eventQuery, eventQueryCodes } from "./event-query";
import { eventStream } from "./event-stream";
import { nextEvents, type EventQuery, type LendFeed } from "./next-events";

const LAST_EVENT_ID = "Last-Event-ID";

export const listEvents = endpoint<PaymentParts>()({
  method: "get",
  path: "/events",
  operationId: "listEvents",
  tag: "Events",
  summary: "Follow what happens to payments, in one order that never changes",
  description:
    "Nothing is ever put in front of what was shown. Go on with `nextCursor`; with `wait` the answer comes when there is " +
    "something to tell. With `Accept: text/event-stream` they are sent as they come (each event's id is a cursor, and " +
    "`Last-Event-ID` goes on where the stream stopped). An operator's key sees the events of all merchants.",
  access: "merchant",
  query: eventQuery,
  queryCodes: eventQueryCodes,
  answers: {
    200: {
      description: "What is there after the cursor, oldest first.",
      schema: eventFeedAnswer,
      alsoAs: ["text/event-stream"],
    },
  },
  problems: [
    "invalid_request",
    "invalid_event_cursor",
    "invalid_event_type",
    "invalid_payment_id",
    "invalid_limit",
    "invalid_wait",
    "too_many_readers",
  ],
  async handle({ request, response, query }, { inWorld, lifecycle, readers }) {
    const { merchant, operator } = callerOf(response);
    const lend: LendFeed = (work) => inWorld(({ eventFeed }) => work(eventFeed));
    const { after: given, wait, limit, types, paymentId } = query;
    const wantsStream = request.accepts(["application/json", "text/event-stream"]) === "text/event-stream";
    const lastEventId = wantsStream ? request.get(LAST_EVENT_ID) : undefined;
    const parameter = lastEventId === undefined ? "after" : LAST_EVENT_ID;
    const from = await startOf(lastEventId ?? given, parameter, lend);
    const wanted: EventQuery = {
      limit,
      ...(operator ? {} : { merchant }),
      ...(types === undefined ? {} : { types }),
      ...(paymentId === undefined ? {} : { paymentId }),
    };
    const read = (withinMs: number, signal: AbortSignal) =>
      nextEvents(lend, wanted, from, withinMs, signal).catch((error: unknown) => {
        throw error instanceof InvalidCursorError ? notACursor(parameter) : error;
      });

    if (wantsStream) {
      if (lifecycle.isDraining) throw new StoreUnavailableError("the service is shutting down");
      const { isStillKnown = async () => true } = contextOf(response);
      const leave = readers.enter(merchant);
      const { signal, forget } = untilCallerGoes(response, lifecycle);
      const end = (): void => {
        forget();
        leave();
      };
      try {
        const first = await read(0, signal);
        const chunks = eventStream(lend, wanted, first, { signal, isStillKnown });
        return { status: 200, contentType: "text/event-stream; charset=utf-8", chunks, end };
      } catch (error) {
        end();
        throw error;
      }
    }
    const poll = () => whileCallerWaits(response, lifecycle, (signal) => read(wait * 1_000, signal));
    const page = await (wait === 0 ? poll() : readers.with(merchant, poll));
    return {
      status: 200,
      body: {
        data: page.events.map(publicEventWire),
        nextCursor: writeEventCursor(page.next),
        hasMore: page.isFull,
      },
    };
  },
});

async function startOf(cursor: string | undefined, parameter: string, lend: LendFeed): Promise<EventCursor> {
  if (cursor === undefined) return BEFORE_THE_FIRST;
  if (cursor !== "latest") return readEventCursor(cursor, parameter);
  return lend(async (feed) => cursorIn(feed, await feed.latest()));
}
