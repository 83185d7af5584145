import type { Payment } from "../../../../src/domain/payment/payment";
import type { Operation } from "../../../../src/domain/payment/operation";
import { isFinalRefusal, type Told } from "../life-commands";

/** They say that nothing was done. */
const withoutEffect = new Set([
  "service_unavailable",
  "gateway_unavailable",
  "lock_timeout",
  "lock_lost",
  "lock_unavailable",
  "payment_busy",
]);

/** In which ways the answers under one key contradict each other, or what came of it. Null: there is no such operation. */
export function answerDisagreements(
  told: readonly Told[],
  own: { readonly payment: Payment; readonly operation: Operation } | null,
  timesAsked: number,
  mayDiffer: boolean,
): string[] {
  const found: string[] = [];
  const [first] = told;
  if (first === undefined) return found;
  const name = `${first.kind} ${first.key}`;

  const shown = told.flatMap(({ shown, content, answer }) =>
    shown === null ? [] : [{ ...shown, content, answer }],
  );
  for (const differing of ["operationId", "amount", "content"] as const) {
    const values = new Set(shown.map((one) => one[differing]));
    if (values.size > 1) found.push(`${name} was answered with ${differing} ${[...values].join(" and ")}`);
  }
  if (!mayDiffer) {
    const finals = new Set([
      ...shown
        .filter(({ answer }) => answer === "succeeded")
        .map(({ captured, refunded }) => `succeeded, captured ${captured}, refunded ${refunded}`),
      ...told.filter(({ answer }) => isFinalRefusal(answer)).map(({ answer }) => answer),
    ]);
    if (finals.size > 1) found.push(`${name} was answered with ${[...finals].join(" and ")}`);
  }

  const harmless = told.find(({ answer }) => withoutEffect.has(answer));
  const went = own !== null && own.operation.status !== "not_sent" && own.operation.status !== "failed";
  if (harmless !== undefined && timesAsked === 1 && went)
    found.push(
      `${name} was told as ${harmless.answer}, never asked for again, and is ${own.operation.status}`,
    );
  return found;
}
