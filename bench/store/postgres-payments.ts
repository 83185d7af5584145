import { Client } from "pg";
import {
  openApplication,
  type Application,
} from "../../src/infrastructure/composition/opening/open-application";
import { readConfiguration } from "../../src/infrastructure/configuration/configuration";
import { authorizeOne, captureOf } from "./authorized";
import {
  assertHeadsDiffer,
  copies,
  GATEWAY_TABLES,
  PAYMENT_TABLES,
  type Row,
  type Table,
} from "./numbered-payments";
import { recordingQueries, type RecordedQuery } from "./postgres-recorder";

/** Captures before the measured ones, the original's included. */
const RECORDED = 3;

export interface PostgresPayments {
  /** The payment of which the others are copies: `numbered` makes their ids of it. */
  readonly original: string;
  /** Everything that the capture of the original sent, in the order in which it was sent. */
  readonly sent: readonly RecordedQuery[];
}

export function openPostgresApplication(url: string, connections: number): Promise<Application> {
  const configuration = readConfiguration({
    flags: { store: url, "store-connections": String(connections), "log-level": "silent" },
    environment: {},
  });
  return openApplication(configuration, { purpose: "bench" });
}

/** Payments 1 to `count` in an empty database, all authorized. The original is captured, to see what is sent. */
export async function postgresPayments(url: string, count: number): Promise<PostgresPayments> {
  const application = await openPostgresApplication(url, 1);
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    // Some are captured first: what a connection is told once is not part of a capture.
    for (let i = 1; i < RECORDED; i += 1) await captureOf(application, await authorizeOne(application));
    const original = await authorizeOne(application);
    await copyRows(client, original, count);
    const sent = await recordingQueries(() => captureOf(application, original));
    return { original, sent };
  } finally {
    await client.end();
    await application.close();
  }
}

/** Throws unless these payments, beside the ones that were recorded, are captured, and the gateway moved money once for each. */
export async function assertCapturedOnce(url: string, copies: number): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    const { rows } = await client.query(
      `SELECT (SELECT count(*) FROM payments WHERE status = 'captured') AS captured, count(*) AS moves,
         count(DISTINCT payment_id) AS moved FROM holdfast_gateway.gateway_moves WHERE kind = 'capture'`,
    );
    const expected = String(copies + RECORDED);
    const [counted] = rows as Record<string, string>[];
    if (Object.values(counted ?? {}).some((count) => count !== expected))
      throw new Error(`${expected} captures were sent: ${JSON.stringify(counted)}`);
  } finally {
    await client.end();
  }
}

async function copyRows(client: Client, original: string, count: number): Promise<void> {
  const tables: Table[] = [];
  for (const name of PAYMENT_TABLES) {
    const key = name === "payments" ? "id" : "payment_id";
    tables.push({ name, rows: await rowsOf(client, name, key, original) });
  }
  for (const name of [...GATEWAY_TABLES, "gateway_versions"]) {
    const rows = await rowsOf(client, `holdfast_gateway.${name}`, "payment_id", original);
    tables.push({
      name: `holdfast_gateway.${name}`,
      rows,
      ...(name === "gateway_moves" && { generated: "sequence" }),
    });
  }
  assertHeadsDiffer(tables);
  for (const statement of copies(tables, 1, count, "postgres")) await client.query(statement);
  await client.query("ANALYZE");
}

async function rowsOf(client: Client, table: string, key: string, id: string): Promise<Row[]> {
  const { rows } = await client.query<Row>(`SELECT * FROM ${table} WHERE ${key} = $1`, [id]);
  const { fields } = await client.query(`SELECT * FROM ${table} LIMIT 0`);
  const numbers = new Set(fields.filter(({ dataTypeID }) => dataTypeID === BIGINT).map(({ name }) => name));
  return rows.map((row) =>
    Object.fromEntries(
      Object.entries(row).map(([column, value]) => [
        column,
        numbers.has(column) && value !== null ? BigInt(value as string) : value,
      ]),
    ),
  );
}

const BIGINT = 20;
