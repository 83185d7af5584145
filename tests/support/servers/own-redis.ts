import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Redis } from "ioredis";
import { OwnProcess, freePort } from "./own-process";
import { redisAnswers } from "./probes";
import { findProgram } from "./server-availability";

export interface OwnServer {
  readonly url: string;
  readonly pid: number;
  /** Nothing answers from here on, connections stay open. */
  pause(): void;
  continue(): void;
  /** Ends at once, as in a power cut. `restart` brings it back. */
  kill(): Promise<void>;
  restart(): Promise<void>;
  /** Ends it for good and removes its files. */
  stop(): Promise<void>;
}

/** A Redis of the test's own, on loopback and a free port. It keeps nothing over a restart unless `durable`. */
export async function startOwnRedis(
  options: { durable?: boolean; more?: readonly string[] } = {},
): Promise<OwnServer> {
  const program = findProgram("redis-server");
  if (program === undefined) throw new Error("redis-server is not installed");
  const folder = mkdtempSync(join(tmpdir(), "holdfast-redis-"));
  const port = await freePort();
  const url = `redis://127.0.0.1:${port}`;
  const durability = options.durable === true ? ["yes", "--appendfsync", "always"] : ["no"];
  const args = ["--bind", "127.0.0.1", "--port", `${port}`, "--dir", folder, "--save", ""];
  args.push(...(options.more ?? []));

  const start = async (): Promise<OwnProcess> => {
    const server = OwnProcess.start(program, [...args, "--appendonly", ...durability], { cwd: folder });
    await server.until(() => redisAnswers(url));
    return server;
  };

  let server = await start();
  return {
    url,
    get pid() {
      return server.pid;
    },
    pause: () => server.pause(),
    continue: () => server.continue(),
    kill: () => server.end("SIGKILL"),
    restart: async () => {
      await server.end("SIGTERM");
      server = await start();
    },
    stop: async () => {
      await server.end("SIGTERM");
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** What an operator says to one server. */
export async function tellRedis(url: string, ...words: readonly [string, ...string[]]): Promise<unknown> {
  const admin = new Redis(url, { maxRetriesPerRequest: 1 });
  try {
    return await admin.call(...words);
  } finally {
    admin.disconnect();
  }
}

async function until(isTrue: () => Promise<boolean>): Promise<void> {
  for (let tries = 0; tries < 600; tries += 1) {
    if (await isTrue()) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error("it did not come true within 30 s");
}

const portOf = (server: OwnServer): string => new URL(server.url).port;

/** The offset of replication that a server tells under this name. */
async function offset(server: OwnServer, name: string): Promise<number> {
  return Number(
    new RegExp(`${name}:(\\d+)`).exec(String(await tellRedis(server.url, "INFO", "replication")))?.[1],
  );
}

/** Waits until `replica` has everything that `master` has been told so far: replication does not wait by itself. */
export async function caughtUp(replica: OwnServer, master: OwnServer): Promise<void> {
  const told = await offset(master, "master_repl_offset");
  await until(async () => (await offset(replica, "slave_repl_offset")) >= told);
}

/** Waits until `replica` has everything that `master` has, and goes on following it. */
export async function replicate(replica: OwnServer, master: OwnServer): Promise<void> {
  await tellRedis(replica.url, "REPLICAOF", "127.0.0.1", portOf(master));
  await until(async () => /master_link_status:up/.test(String(await tellRedis(replica.url, "INFO"))));
  await caughtUp(replica, master);
}

export interface OwnCluster {
  readonly url: string;
  readonly nodes: readonly OwnServer[];
  /** The replica of the first node takes its place. */
  failOver(): Promise<void>;
  stop(): Promise<void>;
}

const SLOTS = 16_384;
const MASTERS = 3;

/** A Redis Cluster of three masters, the first of them with a replica. */
export async function startOwnRedisCluster(): Promise<OwnCluster> {
  const more = ["--cluster-enabled", "yes", "--cluster-node-timeout", "2000"];
  const nodes = await Promise.all([1, 2, 3, 4].map(() => startOwnRedis({ more })));
  const [first, replica] = [nodes[0]!, nodes[MASTERS]!];
  for (const [index, node] of nodes.slice(0, MASTERS).entries()) {
    const [from, to] = [index, index + 1].map((n) => Math.floor((SLOTS * n) / MASTERS));
    await tellRedis(node.url, "CLUSTER", "ADDSLOTSRANGE", `${from}`, `${to! - 1}`);
  }
  for (const node of nodes.slice(1)) await tellRedis(first.url, "CLUSTER", "MEET", "127.0.0.1", portOf(node));
  const knows = async (node: OwnServer, what: RegExp): Promise<boolean> =>
    what.test(String(await tellRedis(node.url, "CLUSTER", "INFO")));
  for (const node of nodes) {
    await until(() => knows(node, /cluster_known_nodes:4/));
    await until(() => knows(node, /cluster_state:ok/));
  }
  const firstId = String(await tellRedis(first.url, "CLUSTER", "MYID"));
  await tellRedis(replica.url, "CLUSTER", "REPLICATE", firstId);
  await until(async () => /master_link_status:up/.test(String(await tellRedis(replica.url, "INFO"))));
  return {
    url: `redis+cluster://${nodes.map(({ url }) => new URL(url).host).join(",")}`,
    nodes,
    failOver: async () => {
      await tellRedis(replica.url, "CLUSTER", "FAILOVER");
      await until(async () => /role:master/.test(String(await tellRedis(replica.url, "INFO"))));
    },
    stop: async () => {
      await Promise.all(nodes.map((node) => node.stop()));
    },
  };
}

export interface OwnSentinel {
  readonly url: string;
  /** Where the sentinel itself answers. */
  readonly itself: string;
  failOver(): Promise<void>;
  stop(): Promise<void>;
}

/** A master, its replica, and the sentinel that says which of them is which. */
export async function startOwnRedisSentinel(): Promise<OwnSentinel> {
  const [master, replica] = [await startOwnRedis(), await startOwnRedis()];
  await replicate(replica, master);
  const program = findProgram("redis-server");
  if (program === undefined) throw new Error("redis-server is not installed");
  const folder = mkdtempSync(join(tmpdir(), "holdfast-sentinel-"));
  const port = await freePort();
  const file = join(folder, "sentinel.conf");
  writeFileSync(
    file,
    `bind 127.0.0.1\nport ${port}\ndir ${folder}\nsentinel monitor locks 127.0.0.1 ${portOf(master)} 1\n` +
      "sentinel down-after-milliseconds locks 1000\nsentinel failover-timeout locks 3000\n",
  );
  const itself = `redis://127.0.0.1:${port}`;
  const sentinel = OwnProcess.start(program, [file, "--sentinel"], { cwd: folder });
  await sentinel.until(() => redisAnswers(itself));
  const named = async (): Promise<unknown> => {
    const [, at] = (await tellRedis(itself, "SENTINEL", "get-master-addr-by-name", "locks")) as string[];
    return at;
  };
  await until(async () => /slaves=1/.test(String(await tellRedis(itself, "INFO", "sentinel"))));
  return {
    url: `redis+sentinel://127.0.0.1:${port}/locks`,
    itself,
    failOver: async () => {
      await caughtUp(replica, master);
      // It refuses until it has heard enough of the replica.
      await until(() =>
        tellRedis(itself, "SENTINEL", "FAILOVER", "locks").then(
          () => true,
          ({ message }: Error) => {
            if (/^NOGOODSLAVE/.test(message)) return false;
            throw new Error(message);
          },
        ),
      );
      await until(async () => (await named()) === portOf(replica));
      await until(async () => /role:slave/.test(String(await tellRedis(master.url, "INFO"))));
    },
    stop: async () => {
      await sentinel.end("SIGTERM");
      await Promise.all([master.stop(), replica.stop()]);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
