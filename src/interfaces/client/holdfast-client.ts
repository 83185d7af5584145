import { checkKnown, checkMs, refusedOption } from "./checked-call";
import { ClientEvents } from "./client-events";
import { ClientPayments, type MovingOperation } from "./client-payments";
import type { Operations } from "./generated/operations";
import type { KeyPlace } from "./key-place";
import { Wire, type Input } from "./wire";

export interface HoldfastClientOptions {
  readonly apiKey?: string;
  /** Where idempotency keys are kept. It has to outlive the process. */
  readonly keys: KeyPlace;
  /** For how long a call is repeated, all attempts together: a minute, unless told otherwise. */
  readonly withinMs?: number;
  /** How long one answer is waited for: 35 s, which is longer than the server takes at most. */
  readonly answerWithinMs?: number;
  /** How long one answer may be, uncompressed: 16 MiB, which is more than the server sends. */
  readonly answerLimitBytes?: number;
  /** Another `fetch`, for instance with a proxy. */
  readonly fetch?: typeof fetch;
}

export interface CallOptions {
  readonly withinMs?: number;
  readonly signal?: AbortSignal;
}

const WITHIN_MS = 60_000;
const ANSWER_WITHIN_MS = 35_000;
const ANSWER_LIMIT_BYTES = 16 * 1_024 * 1_024;

/** Calls a Holdfast server. Repeats by itself what may be repeated, and moves money under keys that are stored first. */
export class HoldfastClient {
  readonly payments: ClientPayments;
  readonly events: ClientEvents;
  private readonly wire: Wire;

  constructor(url: string, options: HoldfastClientOptions) {
    checkClientOptions(options);
    const exchanging = {
      apiKey: options.apiKey ?? null,
      fetch: options.fetch ?? fetch,
      answerWithinMs: options.answerWithinMs ?? ANSWER_WITHIN_MS,
      answerLimitBytes: options.answerLimitBytes ?? ANSWER_LIMIT_BYTES,
    };
    this.wire = new Wire(url, exchanging, options.keys, options.withinMs ?? WITHIN_MS);
    this.payments = new ClientPayments(this.wire);
    this.events = new ClientEvents(this.wire);
  }

  /** Any operation of the API that moves no money, by its `operationId`. Those that do are methods of `payments`. */
  call<Id extends Exclude<keyof Operations, MovingOperation>>(
    operation: Id,
    input: Input<Id>,
    options: CallOptions = {},
  ): Promise<Operations[Id]["answer"]> {
    return this.wire.call(operation, input, options);
  }
}

function checkClientOptions(options: HoldfastClientOptions): void {
  checkKnown(options, ["apiKey", "keys", "withinMs", "answerWithinMs", "answerLimitBytes", "fetch"]);
  const { keys, answerLimitBytes = 1, fetch: send } = options;
  const apiKey: unknown = options.apiKey ?? null;
  // Said here, where it is not shown: a header that cannot be made would be told with its value.
  if (apiKey !== null && !(typeof apiKey === "string" && /^[\x21-\x7e]+$/.test(apiKey)))
    throw refusedOption("apiKey is empty, or has characters that no API key has");
  if (typeof (keys as Partial<KeyPlace> | undefined)?.keep !== "function")
    throw refusedOption("keys is missing: the place where idempotency keys are kept, such as FileKeys");
  if (!Number.isSafeInteger(answerLimitBytes) || answerLimitBytes < 1)
    throw refusedOption("answerLimitBytes has to be a whole number of bytes");
  if (send !== undefined && typeof send !== "function") throw refusedOption("fetch has to be a function");
  checkMs("withinMs", options.withinMs);
  checkMs("answerWithinMs", options.answerWithinMs);
}
