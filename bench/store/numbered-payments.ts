// Any number of payments from one: the rows of a payment that was really authorized, copied with other ids. In each of
// its ids the last twelve digits become a number, so that the n-th payment's ids are known without asking.
const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;
const TAIL_DIGITS = 12;

export type Row = Readonly<Record<string, unknown>>;
export type Engine = "sqlite" | "postgres";

/** Table by table, as references between them want it. */
export interface Table {
  readonly name: string;
  readonly rows: readonly Row[];
  /** The database numbers these by itself. */
  readonly generated?: string;
}

export function numbered(id: string, n: number): string {
  return id.slice(0, -TAIL_DIGITS) + n.toString(16).padStart(TAIL_DIGITS, "0");
}

/** SQL that makes the n-th copy of a text out of it, where `n` is an SQL expression. */
export function numberedText(text: string, n: string, engine: Engine): string {
  const tails = new Set([...text.matchAll(UUID)].map(([id]) => id.slice(-TAIL_DIGITS)));
  const hex = engine === "sqlite" ? `printf('%012x', ${n})` : `lpad(to_hex(${n}), ${TAIL_DIGITS}, '0')`;
  return [...tails].reduce((made, tail) => `replace(${made}, '${tail}', ${hex})`, quoted(text, engine));
}

function quoted(text: string, engine: Engine): string {
  const literal = `'${text.replaceAll("'", "''")}'`;
  // pgbench takes a colon and a name for a variable of its own, wherever they stand.
  return engine === "sqlite" ? literal : `E${literal.replaceAll("\\", "\\\\").replaceAll(":", "\\x3a")}`;
}

/** Statements that copy the rows to the numbers from `first` to `last`. */
export function copies(
  tables: readonly Table[],
  first: number,
  last: number,
  engine: Engine,
): readonly string[] {
  const numbers =
    engine === "sqlite"
      ? `WITH RECURSIVE numbers(n) AS (VALUES(${first}) UNION ALL SELECT n + 1 FROM numbers WHERE n < ${last})`
      : `WITH numbers AS (SELECT n FROM generate_series(${first}, ${last}) AS n)`;
  return tables.flatMap(({ name, rows, generated }) =>
    rows.map((row) => {
      const columns = Object.keys(row).filter((column) => column !== generated);
      const values = columns.map((column) => literal(row[column], engine));
      const into = `INSERT INTO ${name} (${columns.join(", ")})`;
      const select = `SELECT ${values.join(", ")} FROM numbers`;
      return engine === "sqlite" ? `${into} ${numbers} ${select}` : `${numbers} ${into} ${select}`;
    }),
  );
}

function literal(value: unknown, engine: Engine): string {
  if (value === null) return "NULL";
  if (typeof value === "string") return numberedText(value, "n", engine);
  if (typeof value === "bigint" || typeof value === "number") return String(value);
  throw new Error(`a column holds a ${typeof value}`);
}

/** What the copies are made of. The head of each id must tell them apart, since the tails will all be the same. */
export function assertHeadsDiffer(tables: readonly Table[]): void {
  const ids = new Set(
    JSON.stringify(tables, (_, value: unknown) => (typeof value === "bigint" ? "" : value)).match(UUID),
  );
  if (new Set([...ids].map((id) => id.slice(0, -TAIL_DIGITS))).size < ids.size)
    throw new Error("two ids differ in their last digits only");
}

export const PAYMENT_TABLES = ["payments", "operations", "events"] as const;
export const GATEWAY_TABLES = ["gateway_entries", "gateway_authorizations", "gateway_moves"] as const;
