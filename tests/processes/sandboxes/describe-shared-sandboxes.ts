import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import type { LeaseSettings } from "../../../src/infrastructure/locking/lease/protocol/lease-settings";
import { QUICK_LEASE } from "../../support/servers/gcs-locks";
import { joinedServer } from "../../support/program/built-program";
import { HoldfastProcess } from "../../support/program/holdfast-process";
import { size } from "../../support/test-size";
import type { SandboxServerOptions } from "../../support/worlds/sandbox-server";

/** What two servers share, beside what each of them is given anyway. */
export interface SharedByServers {
  readonly flags: Readonly<Record<string, string>>;
  readonly env?: NodeJS.ProcessEnv;
}

interface Answer {
  readonly status: number;
  // What a server sent is not known before it was looked at.
  // eslint-disable-next-line @typescript-eslint/no-explicit-any
  readonly body: any;
}

const TEST_MS = 150_000;
/** A process that is merely slow keeps what it owns; waiters and owners look often. */
const PATIENT: Partial<LeaseSettings> = { ...QUICK_LEASE, ttlMs: 30_000, requestTimeoutMs: 5_000 };
const MOVES = size(20, 6);
const CALLERS = 3;
/** Far more often than it takes. */
const MAX_TRIES = 400;

/** Two real servers, one after the other the owner of one sandbox. */
export function describeSharedSandboxes(
  name: string,
  share: (folder: string) => Promise<SharedByServers>,
): void {
  describe(`${name}: two servers and one sandbox`, () => {
    let folder: string;
    let shared: SharedByServers;
    let running: HoldfastProcess[];
    let program: string;

    beforeAll(async () => {
      const options: SandboxServerOptions = { flags: { port: "0", store: "memory:" }, lease: {} };
      program = await joinedServer("support/worlds/sandbox-server.ts", options);
    }, TEST_MS);

    beforeEach(async () => {
      folder = mkdtempSync(join(tmpdir(), "holdfast-sandboxes-"));
      running = [];
      shared = await share(folder);
    });

    afterEach(async () => {
      await Promise.all(running.map((one) => one.end("SIGKILL")));
      rmSync(folder, { recursive: true, force: true });
    });

    function start(lease: Partial<LeaseSettings>): HoldfastProcess {
      const flags = {
        port: "0",
        store: "memory:",
        "log-level": "warn",
        "shutdown-delay": "0",
        ...shared.flags,
      };
      const options: SandboxServerOptions = { flags, lease };
      const started = new HoldfastProcess([program, JSON.stringify(options)], {
        cwd: folder,
        ...(shared.env === undefined ? {} : { env: shared.env }),
      });
      running.push(started);
      return started;
    }

    async function startTwo(lease: Partial<LeaseSettings>) {
      const [one, other] = [start(lease), start(lease)];
      return { one, other, a: await one.url(), b: await other.url() };
    }

    test(
      `it goes to and fro ${MOVES} times under load: what was acknowledged is there, and nobody gets another answer than documented`,
      async () => {
        const { a, b, one } = await startTwo(PATIENT);
        const id = await create(a);
        const acknowledged: string[] = [];
        const others = new Set<string>();
        let moving = true;
        const caller = async (number: number) => {
          let url = a;
          for (let n = 0; moving; n += 1) {
            const reference = `caller-${number}-${n}`;
            for (let tries = 0; ; tries += 1) {
              const answer = await authorize(url, id, reference);
              if (answer.status === 201) break;
              const code = `${answer.status} ${answer.body.code}`;
              if (!/^(421 sandbox_elsewhere|409 sandbox_contended|503 sandbox_lost)$/.test(code))
                others.add(code);
              if (tries === MAX_TRIES) throw new Error(`never served: ${code}`);
              if (answer.status === 421) url = answer.body.ownerUrl as string;
              await pause(20);
            }
            acknowledged.push(reference);
            await pause(5);
          }
        };
        const load = Promise.all(Array.from({ length: CALLERS }, (_, number) => caller(number)));
        try {
          for (let move = 1; move <= MOVES; move += 1) {
            const there = await post(move % 2 === 0 ? a : b, `/sandboxes/${id}/attach`);
            expect({ move, status: there.status, code: there.body.code }).toEqual({ move, status: 200 });
          }
        } finally {
          moving = false;
        }
        await load;
        expect([...others]).toEqual([]);
        expect(acknowledged.length).toBeGreaterThan(MOVES);
        // A shutdown is one more way to leave: all is checkpointed, and free at once.
        expect((await one.end("SIGTERM")).status).toBe(0);
        expect((await post(b, `/sandboxes/${id}/attach`)).status).toBe(200);
        expect((await references(b, id)).sort()).toEqual(acknowledged.sort());
      },
      TEST_MS,
    );

    test(
      "its owner is killed: the other has the last checkpoint when the lease is over",
      async () => {
        const { one, a, b } = await startTwo(QUICK_LEASE);
        const id = await create(a);
        await authorize(a, id, "saved");
        expect((await post(a, `/sandboxes/${id}/checkpoint`)).status).toBe(201);
        expect((await authorize(a, id, "unsaved")).status).toBe(201);
        await one.end("SIGKILL");
        expect((await post(b, `/sandboxes/${id}/attach`)).status).toBe(200);
        expect(await references(b, id)).toEqual(["saved"]);
      },
      TEST_MS,
    );

    test(
      "its owner is stopped past the lease and continued: it serves nothing more and overwrites nothing",
      async () => {
        const { one, other, a, b } = await startTwo(QUICK_LEASE);
        const id = await create(a);
        await authorize(a, id, "saved");
        expect((await post(a, `/sandboxes/${id}/checkpoint`)).status).toBe(201);
        expect((await authorize(a, id, "unsaved")).status).toBe(201);
        one.signal("SIGSTOP");
        // In its socket's queue while it stands still, and the first that it sees when it goes on.
        const late = post(a, `/sandboxes/${id}/checkpoint`);
        expect((await post(b, `/sandboxes/${id}/attach`)).status).toBe(200);
        expect((await authorize(b, id, "newer")).status).toBe(201);
        one.signal("SIGCONT");
        expect(["sandbox_lost", "sandbox_elsewhere"]).toContain((await late).body.code);
        const told = await request(a, "GET", `/sandboxes/${id}`);
        expect(told).toMatchObject({ status: 421, body: { code: "sandbox_elsewhere", ownerUrl: b } });
        expect((await references(b, id)).sort()).toEqual(["newer", "saved"]);
        expect((await other.end("SIGTERM")).status).toBe(0);
        expect((await references(a, id)).sort()).toEqual(["newer", "saved"]);
      },
      TEST_MS,
    );
  });
}

async function create(url: string): Promise<string> {
  const { status, body } = await post(url, "/sandboxes");
  expect(status).toBe(201);
  return body.sandbox.id as string;
}

function authorize(url: string, id: string, reference: string): Promise<Answer> {
  const order = { amount: 1_000, currency: "EUR", paymentMethod: "tok_ok", reference };
  return request(url, "POST", `/sandboxes/${id}/payments`, order, reference);
}

async function references(url: string, id: string): Promise<string[]> {
  const found: string[] = [];
  let cursor: string | null = "";
  while (cursor !== null) {
    const query: string = cursor === "" ? "" : `&cursor=${cursor}`;
    const { status, body } = await request(url, "GET", `/sandboxes/${id}/payments?limit=100${query}`);
    expect({ status, code: body.code }).toEqual({ status: 200 });
    found.push(...(body.data as { reference: string }[]).map(({ reference }) => reference));
    cursor = body.nextCursor as string | null;
  }
  return found;
}

function post(url: string, path: string): Promise<Answer> {
  return request(url, "POST", path);
}

async function request(
  url: string,
  method: string,
  path: string,
  body?: object,
  key = "none",
): Promise<Answer> {
  const answer = await fetch(`${url}${path}`, {
    method,
    headers: {
      "idempotency-key": key,
      ...(body === undefined ? {} : { "content-type": "application/json" }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { status: answer.status, body: await answer.json() };
}
