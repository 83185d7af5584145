/** What a request asks for, in the words of the API's methods. */
export type Operation =
  | "bucket.get"
  | "bucket.insert"
  | "bucket.delete"
  | "object.get"
  | "object.media"
  | "object.insert"
  | "object.patch"
  | "object.delete"
  | "object.list"
  | "upload.start"
  | "upload.continue";

/**
 * What goes wrong with one request.
 * - `reset`: the connection breaks, and nothing is applied.
 * - `stall`: no answer, ever; nothing is applied.
 * - `answer`: the service refuses with this status; nothing is applied.
 * - `lose-answer`: applied, then the connection breaks.
 * - `stall-answer`: applied, then silence.
 * - `land-late`: the connection breaks at once; the request is applied when `until` resolves, if its conditions hold then.
 * - `hold`: the request is applied and answered when `until` resolves.
 * - `double`: something on the way sends the request twice; the answer is that of the `first` or the `second`.
 * - `wrong-checksum`: applied, and answered with checksums of something else.
 * - `tear`: the headers and half of the body arrive, then the connection breaks (or nothing more comes: `stall`).
 * - `page`: something on the way answers with this status and these bytes; the service hears of nothing.
 * - `cut`: the answer has only this many bytes of its content, and says that these are all.
 */
export type Fault =
  | { readonly kind: "reset" | "stall" | "lose-answer" | "stall-answer" | "wrong-checksum" }
  | { readonly kind: "answer"; readonly status: number }
  | { readonly kind: "page"; readonly status: number; readonly content: string }
  | { readonly kind: "cut"; readonly bytes: number }
  | { readonly kind: "land-late" | "hold"; readonly until: Promise<unknown> }
  | { readonly kind: "double"; readonly answer: "first" | "second" }
  | { readonly kind: "tear"; readonly then: "reset" | "stall" };

/** Which requests are meant, where not the next one of its kind. */
export interface Only {
  readonly object?: string;
  /** What the request's body must contain. */
  readonly body?: RegExp;
  readonly times?: number;
}

interface Planned {
  readonly operations: readonly Operation[];
  readonly only: Only;
  readonly fault: Fault;
  left: number;
}

/** Faults that wait for the requests they are meant for, in the order in which they were planned. */
export class FaultPlan {
  private planned: Planned[] = [];

  /** The next request of this kind goes wrong; or the next `times` of those that are meant. */
  next(operation: Operation | readonly Operation[], fault: Fault, only: Only = {}): void {
    const operations = typeof operation === "string" ? [operation] : operation;
    this.planned.push({ operations, fault, only, left: only.times ?? 1 });
  }

  clear(): void {
    this.planned = [];
  }

  take(operation: Operation, object: string | undefined, body: Buffer): Fault | undefined {
    const found = this.planned.find(
      ({ operations, only }) =>
        operations.includes(operation) &&
        (only.object === undefined || only.object === object) &&
        (only.body === undefined || only.body.test(body.toString("latin1"))),
    );
    if (found === undefined) return undefined;
    found.left -= 1;
    if (found.left <= 0) this.planned = this.planned.filter((plan) => plan !== found);
    return found.fault;
  }
}
