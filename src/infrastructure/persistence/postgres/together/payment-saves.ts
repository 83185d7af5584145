import type { RawBuilder } from "kysely";
import type { AuditEntry } from "../../../../application/ports/audit/audit-trail";
import { outcomeUnknown, StoreUnavailableError } from "../../../../application/ports/payment-repository";
import type { PostgresDatabase } from "../postgres-database";
import { entryPart } from "../postgres-audit";
import { toJson } from "../postgres-json";
import { PreparedQuery } from "../../sql/prepared-query";
import { ConstraintViolationError } from "../../sql/sql-database";
import type { PaymentChange } from "../../sql/sql-payment-repository";
import { GroupedCalls } from "./grouped-calls";
import { MOST_TOGETHER } from "./most-together";
import { textArray } from "./text-array";
import {
  insertPayments,
  save,
  updateFreePayments,
  updatePayments,
  type SaveArg,
  type SaveArgs,
} from "./save-statement";

type SaveQuery = PreparedQuery<SaveArgs, { id: string }>;
type Query = Pick<SaveQuery, "with">;

interface Call {
  readonly change: PaymentChange;
  /** On the clock of `performance.now()`. */
  readonly deadline: number;
}

/** What a group has told one of its members. */
type Told =
  | "written"
  /** Nothing of it is written, and why is to be asked for it alone. */
  | "alone"
  /** The group's answer never came. */
  | "lost";

/**
 * Saves that come together are one statement. Each has its own version condition; what a group did not write is sent
 * alone, so that a conflict, a guard of the schema or a bad value is the verdict of the one it belongs to.
 */
export class PaymentSaves {
  private readonly inserts: GroupedCalls<Call, Told>;
  private readonly updates: GroupedCalls<Call, Told>;
  private readonly insert: SaveQuery;
  private readonly update: SaveQuery;
  private readonly event: PreparedQuery<{ id: string }, { id: string }>;

  constructor(private readonly postgres: PostgresDatabase) {
    const db = postgres.queries;
    const prepared = (payments: (arg: SaveArg) => RawBuilder<unknown>): SaveQuery =>
      new PreparedQuery((arg) => ({ compile: () => save(payments(arg), arg).compile(db) }));
    this.insert = prepared(insertPayments);
    this.update = prepared(updatePayments);
    this.event = new PreparedQuery((arg) => db.selectFrom("events").select("id").where("id", "=", arg("id")));
    this.inserts = this.grouped(this.insert);
    this.updates = this.grouped(prepared(updateFreePayments));
  }

  /** Resolves with false if the stored version is not the expected one. */
  async save(change: PaymentChange): Promise<boolean> {
    const isNew = change.expectedVersion === "new";
    const call = { change, deadline: this.postgres.deadlineOf("save") };
    if (change.entry !== undefined) return this.alone(this.decided(isNew, change.entry), call);
    switch (await (isNew ? this.inserts : this.updates).ask(call)) {
      case "written":
        return true;
      case "alone":
        return this.alone(isNew ? this.insert : this.update, call);
      case "lost":
        return this.again(isNew ? this.insert : this.update, call);
    }
  }

  /** Rare enough to be built each time, and alone: what all others send has no room for it. */
  private decided(isNew: boolean, entry: AuditEntry): Query {
    const { queries } = this.postgres;
    const part = entryPart(entry, "saved");
    return {
      with: (args) => {
        const arg: SaveArg = (name) => args[name];
        return save(isNew ? insertPayments() : updatePayments(arg), arg, part).compile(queries);
      },
    };
  }

  private grouped(query: SaveQuery): GroupedCalls<Call, Told> {
    return new GroupedCalls({
      most: MOST_TOGETHER,
      keyOf: ({ change }) => change.payment.id,
      send: (calls) => this.together(query, calls),
    });
  }

  /** Never rejects: what became of the group says nothing about any one of its members but whether it is written. */
  private async together(query: SaveQuery, calls: readonly Call[]): Promise<readonly Told[]> {
    const [first] = calls;
    // Alone it may be tried twice, and be told what the schema says.
    if (calls.length === 1 || first === undefined) return calls.map(() => "alone");
    try {
      const rows = await this.postgres.once(query.with(argsOf(calls)), {
        deadline: first.deadline,
        attempts: 1,
      });
      const written = new Set(rows.map(({ id }) => id));
      return calls.map(({ change }) => (written.has(change.payment.id) ? "written" : "alone"));
    } catch (error) {
      const isLost = error instanceof StoreUnavailableError && error.outcome === "unknown";
      return calls.map(() => (isLost ? "lost" : "alone"));
    }
  }

  private async alone(query: Query, call: Call): Promise<boolean> {
    const { id } = call.change.payment;
    const rows = await this.postgres.once(query.with(argsOf([call])), {
      deadline: call.deadline,
      onLost: async () => ((await this.again(query, call)) ? [{ id }] : []),
    });
    return rows.length > 0;
  }

  /** After an answer was lost. Safe a second time: if the first one arrived, or still does, the version lets only one through. */
  private async again(query: Query, call: Call): Promise<boolean> {
    const { change, deadline } = call;
    try {
      const rows = await this.postgres.once(query.with(argsOf([call])), { deadline });
      return rows.length > 0 || (await this.hasArrived(change, deadline));
    } catch (error) {
      if (error instanceof ConstraintViolationError && (await this.hasArrived(change, deadline))) return true;
      // What is known of the second one says nothing about the first.
      throw error instanceof StoreUnavailableError ? outcomeUnknown(error) : error;
    }
  }

  /** What refuses the second attempt may be the first one. No two saves share the id of an event. */
  private async hasArrived({ events }: PaymentChange, deadline: number): Promise<boolean> {
    const last = events.at(-1);
    if (last === undefined) return false;
    return (await this.postgres.once(this.event.with({ id: last.id }), { deadline })).length > 0;
  }
}

function argsOf(calls: readonly Call[]): SaveArgs {
  // In one order in every process: two groups that meet in several payments wait for each other, but never both.
  const changes = calls.map(({ change }) => change).sort((a, b) => (a.payment.id < b.payment.id ? -1 : 1));
  return {
    ids: textArray(changes.map(({ payment }) => payment.id)),
    payments: toJson(changes.map(({ payment }) => payment)),
    operations: toJson(changes.flatMap(({ operations }) => operations)),
    events: toJson(changes.flatMap(({ events }) => events)),
    publicEvents: toJson(changes.flatMap(({ publicEvents }) => publicEvents)),
  };
}
