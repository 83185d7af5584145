import type { Caller } from "../../../../application/operations/caller";
import type { CapturePaymentCommand } from "../../../../application/use-cases/capture-payment";
import { ShuttingDownError } from "../../../../application/shutting-down-error";
import { RequestError } from "../../problems/request-error";
import { pathOf } from "../../requests/answer";
import { callerBehind, noOutcomeInTime } from "../../requests/as-caller";
import { whileCallerWaits } from "../../requests/caller-goes";
import { lockBudgetOf, whatIsLeftOf } from "../../requests/lock-budget";
import { contextOf } from "../../requests/request-context";
import { RequestTime } from "../../requests/request-time";
import { endpoint, type Asked } from "../endpoint";
import type { PaymentParts, PaymentWorld } from "../payments/payment-parts";
import { CAPTURES_LIMIT_BYTES, capturesRequest, readItem } from "./capture-item";
import { capturesAnswer, refusalOf, resultOf, type CaptureResult } from "./capture-result";
import { workInLanes } from "./work-in-lanes";

/** Payments at a time: enough for their writes to share commits, few enough for one request not to fill the gateway. */
const LANES = 32;

export const capturePayments = endpoint<PaymentParts>()({
  method: "post",
  path: "/captures",
  operationId: "capturePayments",
  tag: "Payments",
  summary: "Capture many payments in one request, each of them once",
  description:
    "Each capture is made as if it had come alone, and has a result of its own: status, headers and body are those of " +
    "`POST /payments/{paymentId}/capture`. Captures of one payment are made one after the other; between payments there is " +
    "no order. One that comes twice in a request is made once, and both get its result. One that did not begin in time is " +
    "`capture_not_begun`, and nothing was done: send it again with its key. After a lost answer, send the whole request again.",
  access: "merchant",
  waitsForLocks: true,
  body: capturesRequest,
  bodyLimitBytes: CAPTURES_LIMIT_BYTES,
  answers: { 207: { description: "A result for each capture.", schema: capturesAnswer } },
  problems: [],
  async handle(asked, parts) {
    const context = contextOf(asked.response);
    const results: CaptureResult[] = await parts.inWorld((world) =>
      whileCallerWaits(asked.response, parts.lifecycle, (signal) => {
        parts.lifecycle.assertServing();
        return capturedEach(asked.body.captures, asked, parts, { world, signal });
      }),
    );
    context.results = countByStatus(results);
    return { status: 207, body: { results } };
  },
});

/** Where the captures are made, and until when their caller waits for them. */
interface Place {
  readonly world: PaymentWorld;
  readonly signal: AbortSignal;
}

async function capturedEach(
  sent: readonly unknown[],
  { request, response }: Pick<Asked, "request" | "response">,
  parts: PaymentParts,
  { world, signal }: Place,
): Promise<CaptureResult[]> {
  const { requestId, startedAtMs } = contextOf(response);
  const path = pathOf(request);
  const refused = (error: unknown): CaptureResult => {
    parts.logFailure(error, requestId);
    return refusalOf(error, path, requestId);
  };
  const caller = callerBehind(response, signal);
  const budget = lockBudgetOf(request, parts.lockTimeouts);
  const capture = async (command: CapturePaymentCommand, waitMs: number): Promise<CaptureResult> => {
    try {
      // Its caller has gone, or the service is about to.
      if (signal.aborted) throw new ShuttingDownError();
      const inTime: Caller = { ...caller, lockTimeout: whatIsLeftOf(budget, waitMs) };
      return resultOf(await world.capturePayment.execute(command, inTime));
    } catch (error) {
      return refused(error);
    }
  };

  const { read, distinct } = readAll(sent, refused);
  const captured = await workInLanes(
    {
      items: distinct,
      laneOf: ({ paymentId }) => paymentId,
      lanes: LANES,
      work: capture,
      notBegun: () => refused(notBegun()),
      noOutcome: () => refused(noOutcomeInTime()),
    },
    new RequestTime(startedAtMs),
  );
  return read.flatMap((one) => (typeof one === "number" ? captured.slice(one, one + 1) : [one]));
}

/** Each capture that was sent: why it is refused, or its place among those that differ. */
interface ReadCaptures {
  readonly read: readonly (CaptureResult | number)[];
  readonly distinct: readonly CapturePaymentCommand[];
}

/** One that comes twice is made once: made twice, the second would be told of a stored answer, or be asked about again. */
function readAll(sent: readonly unknown[], refused: (error: unknown) => CaptureResult): ReadCaptures {
  const distinct: CapturePaymentCommand[] = [];
  const places = new Map<string, number>();
  const read = sent.map((one, at) => {
    try {
      const command = readItem(one, at);
      const { paymentId, idempotencyKey, amount, currency } = command;
      // No id, key, amount or currency has a space in it.
      const content = `${paymentId} ${idempotencyKey} ${amount} ${currency}`;
      const place = places.get(content) ?? distinct.push(command) - 1;
      places.set(content, place);
      return place;
    } catch (error) {
      return refused(error);
    }
  });
  return { read, distinct };
}

function notBegun(): RequestError {
  return new RequestError(
    "capture_not_begun",
    "The time of the request was over before this capture began. Nothing was done: send it again with the same key.",
  );
}

function countByStatus(results: readonly CaptureResult[]): Record<number, number> {
  const counts: Record<number, number> = {};
  for (const { status } of results) counts[status] = (counts[status] ?? 0) + 1;
  return counts;
}
