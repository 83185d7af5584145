import type { Migration, SqlEngine } from "../../migration";

const types = {
  sqlite: { text: "text", integer: "integer", options: " STRICT" },
  postgres: { text: 'text COLLATE "C"', integer: "bigint", options: "" },
} as const;

const NEVER_CHANGED = "a public event is never changed or dropped";

/**
 * What callers are told of, beside the payments. What happened before this is not told afterwards: the payment as it was
 * then is written down nowhere.
 */
export const publicEvents: Migration = {
  version: 8,
  name: "public events",
  statements: (engine) => (engine === "sqlite" ? sqliteStatements : postgresStatements),
};

/**
 * No index of ids: an event has that of its line in the payment's history, where it is unique, and a `webhook_endpoint`
 * event one that is as random. No reference to `payments`: what is written in one transaction with a payment, which is never deleted, needs no check
 * of its own in each capture. What is no payment's has neither `payment_id` nor `sequence`.
 */
const columns = (engine: SqlEngine) => {
  const { text, integer } = types[engine];
  return `payment_id ${text},
      merchant_id ${text} NOT NULL,
      type ${text} NOT NULL,
      at ${integer} NOT NULL,
      sequence ${integer},
      content ${text} NOT NULL`;
};

const oneOfEach = `CREATE UNIQUE INDEX one_public_event_per_sequence ON public_events (payment_id, sequence)`;

/**
 * One transaction writes at a time and is over before the next begins, so the row's own number is its position. Each
 * further index would be paid for by every capture: a merchant's events are looked for among the others', a bounded
 * number at a time.
 */
const sqliteStatements: readonly string[] = [
  `CREATE TABLE public_events (
      position integer NOT NULL PRIMARY KEY,
      id text NOT NULL,
      ${columns("sqlite")}
    )${types.sqlite.options}`,
  oneOfEach,
  `CREATE TRIGGER public_events_not_updated BEFORE UPDATE ON public_events
    BEGIN SELECT RAISE(ABORT, '${NEVER_CHANGED}'); END`,
  `CREATE TRIGGER public_events_not_deleted BEFORE DELETE ON public_events
    BEGIN SELECT RAISE(ABORT, '${NEVER_CHANGED}'); END`,
];

/**
 * Transactions draw `drawn` in one order and commit in another, so it is no position. Positions are given to what is
 * committed by whoever reads: under the row lock of the counter, which is held until they are committed, so that each
 * becomes visible before any higher one. The loop's own query comes after the lock and sees what was committed by then.
 * Of one payment, one save begins when the one before is committed, so `drawn` keeps its order.
 */
const postgresStatements: readonly string[] = [
  `CREATE TABLE public_events (
      drawn bigint GENERATED ALWAYS AS IDENTITY,
      position bigint,
      id ${types.postgres.text} NOT NULL,
      ${columns("postgres")}
    )`,
  oneOfEach,
  `CREATE UNIQUE INDEX public_events_without_position ON public_events (drawn) WHERE position IS NULL`,
  `CREATE UNIQUE INDEX public_events_in_order ON public_events (position) WHERE position IS NOT NULL`,
  `CREATE INDEX public_events_of_merchant ON public_events (merchant_id, position) WHERE position IS NOT NULL`,
  `CREATE TABLE public_event_counter (last bigint NOT NULL)`,
  `INSERT INTO public_event_counter VALUES (0)`,
  `CREATE FUNCTION give_positions_to_public_events() RETURNS boolean LANGUAGE plpgsql AS $$
    DECLARE
      last_position bigint;
      event record;
    BEGIN
      SELECT last INTO last_position FROM public_event_counter FOR UPDATE;
      FOR event IN
        SELECT drawn FROM public_events WHERE position IS NULL ORDER BY drawn LIMIT 500
      LOOP
        last_position := last_position + 1;
        UPDATE public_events SET position = last_position
          WHERE drawn = event.drawn AND position IS NULL;
      END LOOP;
      UPDATE public_event_counter SET last = last_position;
      RETURN true;
    EXCEPTION WHEN lock_not_available THEN
      RETURN false; -- another reader is at it
    END $$`,
  `CREATE FUNCTION refuse_public_event_change() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN RAISE EXCEPTION '${NEVER_CHANGED}'; END $$`,
  `CREATE TRIGGER public_events_not_moved BEFORE UPDATE OF position ON public_events FOR EACH ROW
    WHEN (OLD.position IS NOT NULL) EXECUTE FUNCTION refuse_public_event_change()`,
  `CREATE TRIGGER public_events_not_changed
    BEFORE UPDATE OF drawn, id, payment_id, merchant_id, type, at, sequence, content OR DELETE ON public_events
    FOR EACH ROW EXECUTE FUNCTION refuse_public_event_change()`,
  `CREATE TRIGGER public_events_not_truncated BEFORE TRUNCATE ON public_events FOR EACH STATEMENT
    EXECUTE FUNCTION refuse_public_event_change()`,
];
