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
 * - `reset`: the connection breaks before the service has seen the request.
 * - `stall`: no answer, ever; nothing is applied.
 * - `answer`: the service refuses with this status; nothing is applied.
 * - `lose-answer`: applied, then the connection breaks.
 * - `stall-answer`: applied, then silence.
 * - `land-late`: the connection breaks at once; the request is applied when `until` resolves, if its conditions hold then.
 * - `hold`: the request is applied and answered when `until` resolves.
 * - `double`: something on the way sends the request twice; the answer is that of the `first` or the `second`.
 * - `wrong-checksum`: applied, and answered with checksums of something else.
 * - `tear`: the headers and half of the body arrive, then the connection breaks (or nothing more comes: `stall`).
 */
export type Fault =
  | { readonly kind: "reset" | "stall" | "lose-answer" | "stall-answer" | "wrong-checksum" }
  | { readonly kind: "answer"; readonly status: number }
  | { readonly kind: "land-late" | "hold"; readonly until: Promise<unknown> }
  | { readonly kind: "double"; readonly answer: "first" | "second" }
  | { readonly kind: "tear"; readonly then: "reset" | "stall" };

interface Planned {
  readonly operations: readonly Operation[];
  readonly object?: string;
  readonly fault: Fault;
  left: number;
}

/** Faults that wait for the requests they are meant for, in the order in which they were planned. */
export class FaultPlan {
  private planned: Planned[] = [];

  /** The next request of this kind (and for this object name, if given) goes wrong; or the next `times` of them. */
  next(
    operation: Operation | readonly Operation[],
    fault: Fault,
    only: { object?: string; times?: number } = {},
  ): void {
    this.planned.push({
      operations: typeof operation === "string" ? [operation] : operation,
      fault,
      left: only.times ?? 1,
      ...(only.object === undefined ? {} : { object: only.object }),
    });
  }

  clear(): void {
    this.planned = [];
  }

  take(operation: Operation, object: string | undefined): Fault | undefined {
    const found = this.planned.find(
      (plan) => plan.operations.includes(operation) && (plan.object === undefined || plan.object === object),
    );
    if (found === undefined) return undefined;
    found.left -= 1;
    if (found.left <= 0) this.planned = this.planned.filter((plan) => plan !== found);
    return found.fault;
  }
}
