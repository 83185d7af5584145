import { Client } from "pg";
import {
  openApplication,
  type Application,
} from "../../src/infrastructure/composition/opening/open-application";
import { readConfiguration } from "../../src/infrastructure/configuration/configuration";
import { authorizeOne } from "./authorized";
import {
  assertHeadsDiffer,
  copies,
  GATEWAY_TABLES,
  PAYMENT_TABLES,
  type Row,
  type Table,
} from "./numbered-payments";
export function openPostgresApplication(url: string, connections: number): Promise<Application> {
  const configuration = readConfiguration({
    flags: { store: url, "store-connections": String(connections), "log-level": "silent" },
    environment: {},
  });
  return openApplication(configuration, { purpose: "bench" });
}

/**
 * Payments 1 to `count` in an empty database, all authorized by this program. Resolves with the one that they are copies of:
 * `numbered` makes their ids of it.
 */
export async function postgresPayments(
  url: string,
  count: number,
  gatewayTables: readonly string[] = [...GATEWAY_TABLES, "gateway_versions"],
): Promise<string> {
  const application = await openPostgresApplication(url, 1);
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    const original = await authorizeOne(application);
    await insertCopies(client, await tablesOf(client, original, gatewayTables), count);
    return original;
  } finally {
    await client.end();
    await application.close();
  }
}

/** The same of rows that were written down. */
export async function copyTables(url: string, tables: readonly Table[], count: number): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    await insertCopies(client, tables, count);
  } finally {
    await client.end();
  }
}

/** Throws unless so many payments are captured, and the gateway moved money once for each. */
export async function assertCapturedOnce(url: string, count: number): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    const { rows } = await client.query(
      `SELECT (SELECT count(*) FROM payments WHERE status = 'captured') AS captured, count(*) AS moves,
         count(DISTINCT payment_id) AS moved FROM holdfast_gateway.gateway_moves WHERE kind = 'capture'`,
    );
    const [counted] = rows as Record<string, string>[];
    if (Object.values(counted ?? {}).some((found) => found !== String(count)))
      throw new Error(`${count} captures were sent: ${JSON.stringify(counted)}`);
  } finally {
    await client.end();
  }
}

async function tablesOf(
  client: Client,
  original: string,
  gatewayTables: readonly string[],
): Promise<readonly Table[]> {
  const tables: Table[] = [];
  for (const name of PAYMENT_TABLES) {
    const key = name === "payments" ? "id" : "payment_id";
    tables.push({ name, rows: await rowsOf(client, name, key, original) });
  }
  for (const name of gatewayTables) {
    const rows = await rowsOf(client, `holdfast_gateway.${name}`, "payment_id", original);
    tables.push({
      name: `holdfast_gateway.${name}`,
      rows,
      ...(name === "gateway_moves" && { generated: "sequence" }),
    });
  }
  return tables;
}

async function insertCopies(client: Client, tables: readonly Table[], count: number): Promise<void> {
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
