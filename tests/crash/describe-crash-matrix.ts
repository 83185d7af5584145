import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  cells,
  firstCrashes,
  gatewayActs,
  movements,
  movesInTheEnd,
  movesOnItsOwn,
  releases,
  secondCrashes,
  type Cell,
} from "./crash-matrix";
import { isElsewhere } from "../../src/infrastructure/gateways/simulated/keys-of-others";
import { expectTold } from "../support/told-events";
import {
  crashPrograms,
  openOperations,
  reviewOf,
  runCrashMatrix,
  type Account,
  type CellOutcome,
} from "./crash-run";

/** About twenty processes, one after the other. */
const RUN_TIMEOUT_MS = 240_000;

/** `store`: the URL of one that is empty. */
export function describeCrashMatrix(name: string, store: (folder: string) => string | Promise<string>): void {
  describe(`killed at each point, on ${name}`, () => {
    let outcomes: Map<string, CellOutcome>;
    let folder: string;
    beforeAll(async () => {
      folder = mkdtempSync(join(tmpdir(), "holdfast-crash-"));
      outcomes = await runCrashMatrix(await store(folder), folder, await crashPrograms());
    }, RUN_TIMEOUT_MS);
    afterAll(() => rmSync(folder, { recursive: true, force: true }));

    test("every movement meets every crash and every act of the gateway", () => {
      const kinds = Object.keys(movements).length;
      const crashes = Object.keys(firstCrashes).length + Object.keys(secondCrashes).length;
      expect(new Set(cells.map(({ kind, first, second }) => `${kind} ${first} ${second}`)).size).toBe(
        kinds * crashes,
      );
      const ordinary = cells.filter(({ gateway }) => gateway in gatewayActs);
      expect(new Set(ordinary.map(({ kind, gateway }) => `${kind} ${gateway}`)).size).toBe(
        kinds * Object.keys(gatewayActs).length,
      );
      expect(new Set(cells.map(({ form }) => form)).size).toBe(5);
    });

    test.each(cells)("$name: one movement or none, and every answer stays true", (cell) => {
      const { acknowledged, onItsOwn, again, inTheEnd } = outcomes.get(cell.name)!;

      expect(timesMoved(cell, onItsOwn)).toBe(movesOnItsOwn(cell));
      expect(timesMoved(cell, inTheEnd)).toBe(movesInTheEnd(cell));
      for (const account of [onItsOwn, inTheEnd]) {
        if (account === null) continue;
        expectAgreement(account);
        expectTold(account.told, account.events);
      }
      expect(openOperations(inTheEnd.events)).toEqual([]);
      if (cell.form === "lapses") expectReleased(cell, inTheEnd);

      const [first, second] = again;
      const moved = movesInTheEnd(cell) === 1;
      expect(first.status).toBe(moved ? 201 : 402);
      expect(second).toEqual({ ...first, replayed: true });
      if (moved) expect(inTheEnd.payment.status).toBe(statusInTheEnd(cell));
      expectOthersCounted(inTheEnd);
      // What was stored before the restart, or finished by itself, was not done anew for the one who asked again.
      if (onItsOwn !== null && movesOnItsOwn(cell) === 1) expect(first.replayed).toBe(true);

      for (const { kind, answer } of acknowledged) {
        if (kind !== cell.kind) {
          expect(answer.status).toBe(201);
          expect(answer.body.payment).toMatchObject(unchanging(inTheEnd));
        } else if (answer.status === 201 || answer.status === 402) {
          expect(answer).toEqual({ ...first, replayed: false });
        } else {
          // "Not known yet" was true; it must have been about the very same operation.
          expect([202, 503]).toContain(answer.status);
          const told: unknown = answer.body[cell.kind]?.id;
          if (answer.status === 503) expect(told).toBeUndefined();
          else if (moved) expect(told).toBe(first.body[cell.kind]?.id);
          else expect(inTheEnd.events.map(({ data }) => data.operationId)).toContain(told);
        }
      }
    });
  });
}

function timesMoved({ kind }: Cell, account: Account | null): number {
  return account?.moves.filter((move) => move.kind === kind).length ?? 0;
}

function statusInTheEnd({ form, kind, gateway }: Cell): string {
  if (form !== "lapses") return movements[kind].status;
  return gateway === "finds the money captured elsewhere" ? "captured" : "expired";
}

/** What others took is counted once, however often it was heard of, and by whom. */
function expectOthersCounted({ events, moves }: Account): void {
  const byOthers = moves.filter(({ gatewayKey }) => isElsewhere(gatewayKey));
  expect(events.filter(isByOthers).map(({ type }) => type)).toEqual(
    byOthers.map(({ kind }) => `${kind}.succeeded`),
  );
}

function isByOthers({ type, data }: Account["events"][number]): boolean {
  return type.endsWith(".succeeded") && data.origin === "gateway";
}

/** Nobody but a person can have stopped it, and that one heard of it at the first answer. */
function expectReleased(cell: Cell, { moves, events }: Account): void {
  expect(moves.filter(({ kind }) => kind === "void")).toHaveLength(releases(cell));
  const reviews = events.filter(({ type }) => type === "operation.needs_review");
  expect(reviews.length).toBe(releases(cell) === 1 ? 0 : 1);
}

/** The gateway moved money for exactly the operations that the store believes succeeded. */
function expectAgreement({ events, moves: all, payment }: Account): void {
  const review = reviewOf(events);
  expect(openOperations(events)).toEqual(review === undefined ? [] : [review]);
  const moves = all.filter(({ gatewayKey }) => !isElsewhere(gatewayKey));
  const succeeded = events
    .filter((event) => !isByOthers(event))
    .filter(({ type, data }) => type.endsWith(".succeeded") && data.operationId !== undefined)
    .map(({ type, data }) => `${type.split(".")[0]} ${data.operationId}`);
  expect(moves.map(({ kind, gatewayKey }) => `${kind} ${gatewayKey.split(".")[0]}`).sort()).toEqual(
    succeeded.sort(),
  );
  const byOthers = events.some(isByOthers);
  const total = (kind: string) =>
    (byOthers ? all : moves)
      .filter((move) => move.kind === kind)
      .reduce((sum, { amount }) => sum + amount, 0);
  expect(payment).toMatchObject({ amountCaptured: total("capture"), amountRefunded: total("refund") });
}

/** What an acknowledged authorization fixed. */
function unchanging({ payment }: Account) {
  const { id, merchant, amount, currency, reference, authorizedAt, expiresAt, createdAt } = payment;
  return { id, merchant, amount, currency, reference, authorizedAt, expiresAt, createdAt };
}
