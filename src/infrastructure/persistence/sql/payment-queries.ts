import { sql, type CompiledQuery, type Kysely, type SqlBool } from "kysely";
import type { PaymentQuery } from "../../../application/ports/payment-repository";
import { eventColumns, operationColumns, paymentColumns } from "./columns";
import type { Position } from "./cursor";
import type { JoinedRow } from "./payment-rows";
import { toMs } from "./payment-rows";
import { PreparedQuery } from "./prepared-query";
import type { EventRow, Tables } from "./tables";

export interface DueRow {
  readonly id: string;
  readonly payment_id: string;
  readonly due_at: bigint;
}

export interface ReviewRow {
  readonly id: string;
  readonly payment_id: string;
  readonly merchant_id: string;
  readonly kind: string;
  readonly amount: bigint;
  readonly currency: string;
  readonly created_at: bigint;
}

/** Rows strictly after this one, up to and including this instant. */
interface UpTo extends Position {
  readonly untilMs: bigint;
  readonly limit: number;
}

/** Whose times cannot be true: due after this, or touched after that. */
interface DueRange {
  readonly beyondMs: bigint;
  readonly touchedAfterMs: bigint;
}

// Columns are named one by one: a later version's new column must not change the answer of a query that is prepared.
const paymentItself = paymentColumns.map((column) => `p.${column}` as const);
const operationBesidePayment = operationColumns.map((column) => sql.ref(`o.${column}`).as(`o_${column}`));

// Statuses are written as literals: a partial index serves only a query that repeats its condition word by word.
const OPEN = sql<SqlBool>`o.status IN ('started', 'unknown', 'pending', 'requires_action', 'needs_review')`;
const LAPSING = sql<SqlBool>`p.status IN ('authorized', 'authorizing')`;
const IN_REVIEW = sql<SqlBool>`(o.status = 'needs_review' OR o.conflicted = 1)`;
const OF_ALL = sql<SqlBool>`id <> ''`;
const UNKNOWN = sql<SqlBool>`o.status = 'unknown'`;

/** Every question the repository asks, for both engines. Each is answered from an index. */
export class PaymentQueries {
  readonly find: PreparedQuery<{ id: string }, JoinedRow>;
  /** PostgreSQL only. The ids as an array's text. */
  readonly findAll: PreparedQuery<{ ids: string }, JoinedRow>;
  readonly byAuthorizeKey: PreparedQuery<{ merchant: string; key: string }, { payment_id: string }>;
  readonly byOperation: PreparedQuery<{ id: string }, { payment_id: string }>;
  readonly byAuthorization: PreparedQuery<{ reference: string }, { id: string }>;
  readonly byGatewayReference: PreparedQuery<{ reference: string; limit: number }, { payment_id: string }>;
  readonly events: PreparedQuery<{ id: string }, EventRow>;
  readonly eventPage: PreparedQuery<{ id: string; after: bigint; limit: number }, EventRow>;
  readonly due: PreparedQuery<UpTo & DueRange, DueRow>;
  readonly lapsed: PreparedQuery<UpTo, { id: string; expires_at: bigint }>;
  readonly inReview: PreparedQuery<Position & { limit: number }, ReviewRow>;
  readonly countInReview: PreparedQuery<object, { count: bigint }>;
  readonly unknown: PreparedQuery<{ limit: number }, ReviewRow>;
  readonly unknownOfMerchant: PreparedQuery<{ merchant: string; limit: number }, ReviewRow>;
  readonly unsettled: PreparedQuery<object, { oldest: bigint | null; refused: bigint }>;

  constructor(private readonly db: Kysely<Tables>) {
    const withOperations = db
      .selectFrom("payments as p")
      .innerJoin("operations as o", "o.payment_id", "p.id")
      .select(paymentItself)
      .select(operationBesidePayment)
      .orderBy("o.position")
      .$castTo<JoinedRow>();
    this.find = new PreparedQuery((arg) => withOperations.where("p.id", "=", arg("id")));
    // Asked of both tables: whatever the planner thinks of their sizes, it reads no others. As subqueries: a planner that
    // sees how many they are may make a new plan each time (ADR 0110).
    this.findAll = new PreparedQuery((arg) =>
      withOperations
        .where(sql<SqlBool>`p.id = ANY (ARRAY(SELECT unnest(${arg("ids")}::text[])))`)
        .where(sql<SqlBool>`o.payment_id = ANY (ARRAY(SELECT unnest(${arg("ids")}::text[])))`),
    );
    this.byAuthorizeKey = new PreparedQuery((arg) =>
      db
        .selectFrom("operations as o")
        .select("o.payment_id")
        .where("o.merchant_id", "=", arg("merchant"))
        .where("o.idempotency_key", "=", arg("key"))
        .where(sql<SqlBool>`o.kind = 'authorize'`),
    );
    this.byOperation = new PreparedQuery((arg) =>
      db.selectFrom("operations as o").select("o.payment_id").where("o.id", "=", arg("id")),
    );
    this.byAuthorization = new PreparedQuery((arg) =>
      db.selectFrom("payments as p").select("p.id").where("p.authorization_reference", "=", arg("reference")),
    );
    this.byGatewayReference = new PreparedQuery((arg) =>
      db
        .selectFrom("operations as o")
        .select("o.payment_id")
        .where("o.gateway_reference", "=", arg("reference"))
        .unionAll(
          db
            .selectFrom("payments as p")
            .select("p.id as payment_id")
            .where("p.authorization_reference", "=", arg("reference")),
        )
        .limit(arg("limit")),
    );
    this.events = new PreparedQuery((arg) =>
      db.selectFrom("events").select(eventColumns).where("payment_id", "=", arg("id")).orderBy("sequence"),
    );
    this.eventPage = new PreparedQuery((arg) =>
      db
        .selectFrom("events")
        .select(eventColumns)
        .where("payment_id", "=", arg("id"))
        .where("sequence", ">", arg("after"))
        .orderBy("sequence")
        .limit(arg("limit")),
    );
    this.due = new PreparedQuery((arg) =>
      db
        .selectFrom("operations as o")
        .select(["o.id", "o.payment_id", sql<bigint>`o.due_at`.as("due_at")])
        .where("o.due_at", "is not", null)
        .where(
          sql<SqlBool>`(o.due_at <= ${arg("untilMs")} OR o.due_at > ${arg("beyondMs")}
            OR coalesce(o.asked_at, o.first_sent_at, o.created_at) > ${arg("touchedAfterMs")})`,
        )
        .where(sql<SqlBool>`(o.due_at, o.id) > (${arg("atMs")}, ${arg("id")})`)
        .orderBy("o.due_at")
        .orderBy("o.id")
        .limit(arg("limit")),
    );
    this.lapsed = new PreparedQuery((arg) =>
      db
        .selectFrom("payments as p")
        .select(["p.id", "p.expires_at"])
        .where(LAPSING)
        .where("p.expires_at", "<=", arg("untilMs"))
        .where(sql<SqlBool>`(p.expires_at, p.id) > (${arg("atMs")}, ${arg("id")})`)
        .where((where) =>
          where.not(
            where.exists(
              where
                .selectFrom("operations as o")
                .select("o.id")
                .whereRef("o.payment_id", "=", "p.id")
                .where(OPEN),
            ),
          ),
        )
        .orderBy("p.expires_at")
        .orderBy("p.id")
        .limit(arg("limit")),
    );
    const toLookAt = db
      .selectFrom("operations as o")
      .innerJoin("payments as p", "p.id", "o.payment_id")
      .select(["o.id", "o.payment_id", "o.merchant_id", "o.kind", "o.amount", "p.currency", "o.created_at"]);
    const unknown = toLookAt.where(UNKNOWN).orderBy("o.created_at").orderBy("o.id");
    this.unknown = new PreparedQuery((arg) => unknown.limit(arg("limit")));
    this.unknownOfMerchant = new PreparedQuery((arg) =>
      unknown.where("o.merchant_id", "=", arg("merchant")).limit(arg("limit")),
    );
    this.inReview = new PreparedQuery((arg) =>
      toLookAt
        .where(IN_REVIEW)
        .where(sql<SqlBool>`(o.created_at, o.id) > (${arg("atMs")}, ${arg("id")})`)
        .orderBy("o.created_at")
        .orderBy("o.id")
        .limit(arg("limit")),
    );
    this.countInReview = new PreparedQuery(() =>
      db
        .selectFrom("operations as o")
        .select(({ fn }) => fn.countAll<bigint>().as("count"))
        .where(IN_REVIEW),
    );
    // Asked as the index of open operations says it, so that it reads no others.
    this.unsettled = new PreparedQuery(() => ({
      compile: () =>
        sql<{ oldest: bigint | null; refused: bigint }>`
          SELECT min(CASE WHEN n = 1 THEN created_at END) AS oldest, count(CASE WHEN n > 1 THEN 1 END) AS refused
          FROM operations
          WHERE status IN ('started', 'unknown', 'pending', 'requires_action', 'needs_review')
            AND status IN ('started', 'unknown')`.compile(db),
    }));
  }

  /** Compiled for each call: its shape follows what is asked for, so there are as many shapes as filters combine. */
  list(query: PaymentQuery, after: Position | undefined, limit: number): CompiledQuery<JoinedRow> {
    return this.db
      .selectFrom((from) => {
        let page = from
          .selectFrom("payments")
          .select(paymentColumns)
          .orderBy("created_at", "desc")
          .orderBy("id", "desc")
          .limit(limit);
        page = query.merchant === null ? page.where(OF_ALL) : page.where("merchant_id", "=", query.merchant);
        if (query.status !== undefined) page = page.where("visible_status", "=", query.status);
        if (query.reference !== undefined) page = page.where("reference", "=", query.reference);
        if (query.amount !== undefined) {
          const { amount, currency } = query.amount;
          page = page.where("authorized", "=", amount).where("currency", "=", currency);
        }
        if (query.createdFrom !== undefined) page = page.where("created_at", ">=", toMs(query.createdFrom));
        if (query.createdTo !== undefined) page = page.where("created_at", "<", toMs(query.createdTo));
        if (after !== undefined) {
          page = page.where(sql<SqlBool>`(created_at, id) < (${after.atMs}, ${after.id})`);
        }
        return page.as("p");
      })
      .innerJoin("operations as o", "o.payment_id", "p.id")
      .select(paymentItself)
      .select(operationBesidePayment)
      .orderBy("p.created_at", "desc")
      .orderBy("p.id", "desc")
      .orderBy("o.position")
      .$castTo<JoinedRow>()
      .compile();
  }
}
