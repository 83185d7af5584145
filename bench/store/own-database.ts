import { randomBytes } from "node:crypto";
import { Client } from "pg";

/** A database of the bench's own on the server that is there. */
export async function ownDatabase(server: string): Promise<{ url: string; drop(): Promise<void> }> {
  const name = `holdfast_bench_${randomBytes(6).toString("hex")}`;
  await run(server, `CREATE DATABASE ${name}`);
  const url = new URL(server);
  url.pathname = `/${name}`;
  return { url: url.href, drop: () => run(server, `DROP DATABASE ${name} WITH (FORCE)`) };
}

async function run(server: string, statement: string): Promise<void> {
  const client = new Client({ connectionString: server });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}
