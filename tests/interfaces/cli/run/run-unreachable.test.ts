import { readdirSync } from "node:fs";
import { createServer, type AddressInfo, type Server, type Socket } from "node:net";
import { HoldfastCli } from "../../../support/program/holdfast-cli";
import { freePort } from "../../../support/servers/own-process";
import { size } from "../../../support/test-size";

jest.setTimeout(120_000);
const holdfast = new HoldfastCli();
const TOUCH = ["--", "touch", "ran"];
/** Far above what a limit of a few seconds needs on a busy machine, and far below what a client takes that nobody bounds. */
const BOUND_MS = 15_000;

/** Takes connections and never says a word. */
let silent: Server;
const sockets = new Set<Socket>();
beforeAll(async () => {
  silent = createServer({ allowHalfOpen: true }, (socket) => {
    sockets.add(socket);
    socket.on("error", () => {}).resume();
  });
  await new Promise<void>((resolve) => silent.listen(0, "127.0.0.1", resolve));
});
afterAll(async () => {
  for (const socket of sockets) socket.destroy();
  await new Promise((resolve) => silent.close(resolve));
});

const refusing = () => freePort();
const keepingSilent = async () => (silent.address() as AddressInfo).port;

const everyOne = [
  ["a Redis that is not there", "redis", refusing, /Redis is not reached.*ECONNREFUSED/],
  ["a PostgreSQL that is silent", "postgres", keepingSilent, /no answer from postgres|did not let us in/],
  ["a Redis that is silent", "redis", keepingSilent, /no answer from redis|not reached/],
  ["a PostgreSQL that is not there", "postgres", refusing, /ECONNREFUSED/],
] as const;

// In brief, each of them in one of the two ways.
describe.each(everyOne.slice(0, size(everyOne.length, 2)))("%s", (_what, scheme, port, words) => {
  const locksAt = async () => `${scheme}://someone:secret@127.0.0.1:${await port()}`;

  test("ends run with 69 within its limit and a moment, and says what is the matter", async () => {
    const locks = await locksAt();
    const ended = await Promise.all(
      [0, 2].map(async (seconds) => {
        const sinceMs = performance.now();
        const args = ["run", "nightly", "--locks", locks, "--lock-timeout", String(seconds), ...TOUCH];
        const { status, stdout, stderr } = await holdfast.run(args);
        return { seconds, status, stdout, stderr, tookMs: performance.now() - sinceMs };
      }),
    );
    for (const { seconds, status, stdout, stderr, tookMs } of ended) {
      expect({ status, stdout }).toEqual({ status: 69, stdout: "" });
      expect(stderr).toMatch(words);
      expect(stderr).toContain(`(limit ${seconds} s from --lock-timeout)`);
      expect(stderr).toContain(`the locks are ${locks.replace("secret", "***")} (--locks)`);
      expect(stderr).not.toMatch(/held by|secret/);
      // Nothing was sent that could be left behind.
      expect(stderr).not.toContain("may stay");
      for (const line of stderr.split("\n")) expect(line).toMatch(/^holdfast: \S/);
      expect(tookMs).toBeLessThan(BOUND_MS);
    }
    expect(readdirSync(holdfast.folder)).not.toContain("ran");
  });

  test("tells programs the limit and whose it is", async () => {
    const env = { HOLDFAST_LOCK_TIMEOUT_TASK: "1" };
    const { stderr } = await holdfast.run(
      ["run", "nightly", "--json", "--quiet", "--locks", await locksAt(), ...TOUCH],
      env,
    );
    expect(JSON.parse(stderr.split("\n")[0]!)).toMatchObject({
      error: {
        code: "lock_unavailable",
        resourceId: "task:nightly",
        waitedMs: expect.any(Number) as number,
        limit: 1,
        source: "HOLDFAST_LOCK_TIMEOUT_TASK",
        scope: "task",
      },
    });
  });

  test("does not keep who gives up on it", async () => {
    const locks = await locksAt();
    const tookMs: number[] = [];
    // The best of a few, since the machine may be busy: a wait for the service would be in each of them.
    for (let tries = 0; tries < 3 && Math.min(Infinity, ...tookMs) >= 1_500; tries += 1) {
      const waiting = holdfast.start(["run", "nightly", "--locks", locks, "--lock-timeout", "60", ...TOUCH]);
      await waiting.said(/waiting for task:nightly, /);
      waiting.signal("SIGINT");
      const { stderr } = await waiting.said(/stopped waiting/).then(async () => {
        const sinceMs = performance.now();
        const ended = await waiting.ended;
        tookMs.push(performance.now() - sinceMs);
        expect(ended.signal).toBe("SIGINT");
        return ended;
      });
      expect(stderr).not.toContain("held by");
      expect(stderr).toContain("(limit 60 s from --lock-timeout): cancelled by SIGINT");
    }
    expect(Math.min(...tookMs)).toBeLessThan(1_500);
  });
});
