import { parserOf } from "./postgres-connection";
import type { Connection, FieldDef, Submittable } from "./postgres-driver";

interface Column {
  readonly name: string;
  readonly parse: (text: string) => unknown;
}

/** What of the driver's connection a run needs. Its published types are of an older version. */
interface DriverConnection {
  readonly stream: { cork(): void; uncork(): void };
  /** Texts by their names, kept by the driver. */
  readonly parsedStatements: Readonly<Record<string, string | undefined>>;
  parse(statement: { name: string; text: string }): void;
  bind(values: { statement: string; values: readonly (string | null)[] }): void;
  describe(portal: { type: "P"; name: "" }): void;
  execute(portal: object): void;
  sync(): void;
}

/** By connection and name: while a statement stays prepared, its columns stay what they are. */
const known = new WeakMap<DriverConnection, Map<string, readonly Column[]>>();

/**
 * One run of a prepared statement, as the driver's own `Query` makes it, but for what that one does again each time: it
 * asks for the columns (a payment beside its operation has 36), finds their parsers, and copies its settings.
 */
export class PreparedRun<Row> implements Submittable {
  private readonly sent: readonly (string | null)[];
  private readonly rows: Row[] = [];
  private connection: DriverConnection | undefined;
  private columns: readonly Column[] = [];

  constructor(
    readonly name: string,
    readonly text: string,
    readonly values: readonly unknown[],
    /** Called once. The driver puts one with a time limit in its place. */
    public callback: (error: Error | null, rows: readonly Row[]) => void,
  ) {
    this.sent = values.map(asText);
  }

  submit(driver: Connection): void {
    const connection = driver as unknown as DriverConnection;
    const { name, text } = this;
    const columns = known.get(connection)?.get(name);
    this.connection = connection;
    this.columns = columns ?? [];
    connection.stream.cork();
    if (connection.parsedStatements[name] === undefined) connection.parse({ name, text });
    connection.bind({ statement: name, values: this.sent });
    if (columns === undefined) connection.describe({ type: "P", name: "" });
    connection.execute({});
    connection.sync();
    connection.stream.uncork();
  }

  handleRowDescription({ fields }: { readonly fields: readonly FieldDef[] }): void {
    this.columns = fields.map(({ name, dataTypeID }) => ({ name, parse: parserOf(dataTypeID) }));
    if (this.connection === undefined) return;
    const ofConnection = known.get(this.connection) ?? new Map<string, readonly Column[]>();
    known.set(this.connection, ofConnection.set(this.name, this.columns));
  }

  handleDataRow({ fields }: { readonly fields: readonly (string | null)[] }): void {
    const row: Record<string, unknown> = {};
    fields.forEach((text, i) => {
      const column = this.columns[i];
      if (column !== undefined) row[column.name] = text === null ? null : column.parse(text);
    });
    this.rows.push(row as Row);
  }

  handleError(error: Error): void {
    this.callback(error, []);
  }

  handleReadyForQuery(): void {
    this.callback(null, this.rows);
  }

  handleCommandComplete(): void {}
}

function asText(value: unknown): string | null {
  switch (typeof value) {
    case "string":
      return value;
    case "number":
    case "bigint":
    case "boolean":
      return String(value);
    default:
      if (value === null) return null;
      throw new TypeError(`a ${typeof value} is not for a statement`);
  }
}
