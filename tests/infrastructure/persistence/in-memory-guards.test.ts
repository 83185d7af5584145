import {
  inMemoryGuards,
  type GuardName,
  type Write,
} from "../../../src/infrastructure/persistence/memory/in-memory-guards";
import type { Operation } from "../../../src/domain/payment/operation";

type Part = Partial<Pick<Operation, "id" | "kind" | "origin" | "idempotencyKey" | "gatewayReference">>;

/** Whether a payment with these operations is refused for this reason. */
function isRefused(name: GuardName, ...parts: { [Name in keyof Part]: unknown }[]): boolean {
  const operations = parts.map((part, id) => ({
    id: `operation-${id}`,
    kind: "refund",
    origin: "holdfast",
    idempotencyKey: null,
    gatewayReference: null,
    ...part,
  })) as unknown as Operation[];
  const guard = inMemoryGuards.find((one) => one.name === name);
  return guard!.refuses({ operations } as unknown as Write);
}

test("a key is one operation of its kind; operations without a key are as many as there are", () => {
  const refused = (...parts: Part[]) => isRefused("one_operation_per_key", ...parts);
  expect(refused({ idempotencyKey: "k" as never }, { idempotencyKey: "k" as never })).toBe(true);
  expect(refused({ idempotencyKey: "k" as never }, { idempotencyKey: "l" as never })).toBe(false);
  expect(refused({ idempotencyKey: "k" as never }, { kind: "capture", idempotencyKey: "k" as never })).toBe(
    false,
  );
  expect(refused({ origin: "gateway" }, { origin: "gateway" })).toBe(false);
});

test("a movement elsewhere is one operation; of ours, and of what has no name there, nobody knows", () => {
  const refused = (...parts: Part[]) => isRefused("one_operation_per_movement_elsewhere", ...parts);
  const elsewhere = { origin: "gateway", gatewayReference: "re_1" } as const;
  expect(refused(elsewhere, elsewhere)).toBe(true);
  expect(refused(elsewhere, { ...elsewhere, gatewayReference: "re_2" })).toBe(false);
  expect(refused(elsewhere, { ...elsewhere, kind: "capture" })).toBe(false);
  expect(refused(elsewhere, { ...elsewhere, origin: "holdfast" })).toBe(false);
  expect(refused({ origin: "gateway" }, { origin: "gateway" })).toBe(false);
});
