import { randomUUID } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import { Client } from "pg";
import type { ServerUnderLoad } from "../load/holdfast-server";
import type { Bench } from "../measuring/suite";

/** Ids of payments that nobody has taken yet. */
export type Numbers = (count: number) => readonly string[];

export interface Scene {
  readonly start: () => Promise<ServerUnderLoad>;
  readonly url: string;
  readonly take: Numbers;
  readonly size: Bench["size"];
}

export interface Told {
  readonly misfortune: string;
  readonly outcome: string;
}

const CALLERS_AT_ONCE = 50;
const CONNECTIONS = 32;
const TRIES = 8;
const BETWEEN_TRIES_MS = 250;

/** What becomes of the money. Each caller repeats its request with its key until it is told that it succeeded. */
export async function misfortunes(scene: Scene): Promise<readonly Told[]> {
  return [
    {
      misfortune: "the gateway's answer is lost, and the request repeated",
      outcome: await lostAnswers(scene),
    },
    { misfortune: "50 callers at once", outcome: await manyCallers(scene) },
    { misfortune: "killed among captures, and started again", outcome: await killed(scene) },
  ];
}

async function lostAnswers({ start, url, take, size }: Scene): Promise<string> {
  const ids = take(size(20, 2));
  // The gateway moves the money, and is silent.
  await query(
    url,
    `UPDATE holdfast_gateway.gateway_authorizations SET payment_method = 'tok_timeout_captured' WHERE payment_id = ANY ($1)`,
    [ids],
  );
  const server = await start();
  await Promise.all(ids.map((id) => untilCaptured(server.port, id, randomUUID())));
  await server.stop();
  return counted(url, ids);
}

async function manyCallers({ start, url, take }: Scene): Promise<string> {
  const [id] = take(1);
  const server = await start();
  const statuses = await Promise.all(
    Array.from({ length: CALLERS_AT_ONCE }, () => send(server.port, id!, randomUUID())),
  );
  await server.stop();
  const succeeded = statuses.filter((status) => status === 201).length;
  return `${await counted(url, [id!])}; ${succeeded} told that they captured it`;
}

async function killed({ start, url, take, size }: Scene): Promise<string> {
  const requests = take(size(600, 32)).map((id) => ({ id, key: randomUUID() }));
  const first = await start();
  let next = 0;
  let answered = 0;
  const unanswered: (typeof requests)[number][] = [];
  const caller = async (): Promise<void> => {
    for (let request = requests[next++]; request !== undefined; request = requests[next++]) {
      const status = await send(first.port, request.id, request.key);
      if (status === 201) answered += 1;
      else unanswered.push(request);
      if (answered === Math.floor(requests.length / 3)) void first.kill();
    }
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, caller));
  await first.kill();
  const second = await start();
  await Promise.all(unanswered.map(({ id, key }) => untilCaptured(second.port, id, key)));
  await second.stop();
  return counted(
    url,
    requests.map(({ id }) => id),
  );
}

async function untilCaptured(port: number, id: string, key: string): Promise<void> {
  for (let n = 0; n < TRIES; n += 1) {
    if ((await send(port, id, key)) === 201) return;
    await pause(BETWEEN_TRIES_MS);
  }
}

/** Null where there was no answer. */
async function send(port: number, id: string, key: string): Promise<number | null> {
  try {
    const response = await fetch(`http://127.0.0.1:${port}/payments/${id}/capture`, {
      method: "POST",
      headers: { "Content-Type": "application/json", "Idempotency-Key": key },
      body: "{}",
    });
    await response.arrayBuffer();
    return response.status;
  } catch {
    return null;
  }
}

/** By the gateway's own book. */
async function counted(url: string, ids: readonly string[]): Promise<string> {
  const rows = await query(
    url,
    `SELECT moves, count(*) AS payments FROM (
       SELECT id, (SELECT count(*) FROM holdfast_gateway.gateway_moves WHERE payment_id = id AND kind = 'capture') AS moves
       FROM unnest($1::text[]) AS id) AS each GROUP BY moves ORDER BY moves`,
    [ids],
  );
  return (rows as { moves: string; payments: string }[])
    .map(
      ({ moves, payments }) =>
        `${payments} of ${ids.length} captured ${moves === "1" ? "once" : `${moves} times`}`,
    )
    .join(", ");
}

async function query(url: string, text: string, values: readonly unknown[]): Promise<readonly unknown[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(text, [...values])).rows;
  } finally {
    await client.end();
  }
}
