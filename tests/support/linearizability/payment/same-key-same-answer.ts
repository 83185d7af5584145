import { operationName } from "./payment-state";
import type { PaymentCall } from "./payment-call";

/** Two answers for one key that differ although the first one was final, or that are about different operations. */
export interface Contradiction {
  readonly first: PaymentCall;
  readonly second: PaymentCall;
  readonly about: string;
}

/** What needs no search: a key has one operation, and its final answer is the same each time, to the last letter. */
export function firstContradiction(calls: readonly PaymentCall[]): Contradiction | null {
  const finals = new Map<string, [PaymentCall, string]>();
  const operations = new Map<string, [PaymentCall, string]>();
  for (const call of calls) {
    const { asks, http } = call;
    if (asks.for !== "movement" || http.answer === null) continue;
    const { status, body } = http.answer;
    const name = operationName(asks.kind, asks.key);
    const operationId: unknown = body[asks.kind]?.id;
    const found =
      (status === 201 || status === 402 ? differs(finals, name, call, contentOf(status, body)) : null) ??
      (typeof operationId === "string" ? differs(operations, name, call, operationId) : null);
    if (found !== null) return { ...found, about: `${name} has two answers that cannot both be true` };
  }
  return null;
}

function differs(
  known: Map<string, [PaymentCall, string]>,
  name: string,
  second: PaymentCall,
  said: string,
): Pick<Contradiction, "first" | "second"> | null {
  const [first, before] = known.get(name) ?? [second, said];
  known.set(name, [first, before]);
  return before === said ? null : { first, second };
}

/** Without what belongs to the request and not to its outcome. */
function contentOf(status: number, body: object): string {
  const { requestId: _, instance: __, ...said } = body as { requestId?: string; instance?: string };
  return JSON.stringify([status, said]);
}
