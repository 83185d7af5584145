import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { sessionTimes } from "../../../src/infrastructure/locking/postgres/session-times";
import { GcsStandIn } from "../../support/gcs-stand-in/gcs-stand-in";
import { HoldfastCli } from "../../support/program/holdfast-cli";
import { describeAtFullSize, describeWithPostgres, describeWithRedis } from "../../support/servers/servers";
import { tcpRelayTo, type TcpRelay } from "../../support/servers/tcp-relay";

/** At the real settings: the longest wait is for a lease of 30 s and its margin. */
jest.setTimeout(120_000);
const holdfast = new HoldfastCli();
const PATIENCE = ["--lock-timeout", "60"];

/** Ignores what it is asked, and writes down ten times a second that it still runs. */
const stubborn = (name: string, times: number) => [
  "sh",
  "-c",
  `trap '' TERM; echo "running $$" >&2; for i in $(seq ${times}); do date +%s%N >>${name}; sleep 0.1; done`,
];

const linesOf = (name: string) =>
  readFileSync(join(holdfast.folder, name), "utf8")
    .trim()
    .split("\n")
    .map((line) => Number(line) / 1e6);

interface Service {
  /** As the first holder reaches it. */
  readonly locks: string;
  /** As the next one does. */
  readonly direct: string;
  readonly env?: NodeJS.ProcessEnv;
  readonly directEnv?: NodeJS.ProcessEnv;
  /** Nothing arrives from or at the first holder any more. */
  readonly vanish: () => void;
}

async function expectNoOverlap(service: Service): Promise<void> {
  const first = holdfast.start(
    ["run", "nightly", "--locks", service.locks, "--", ...stubborn("first", 900)],
    service.env,
  );
  await first.said(/^running/);
  const next = holdfast.start(
    ["run", "nightly", ...PATIENCE, "--locks", service.direct, "--", ...stubborn("next", 3)],
    service.directEnv,
  );
  await pause(500);
  service.vanish();
  const [lost, taken] = await Promise.all([first.ended, next.ended]);
  expect(lost.status).toBe(79);
  expect(lost.stderr).toMatch(/the lock (cannot be renewed|is lost).*; ending the command/);
  expect(taken.status).toBe(0);
  const [begun = NaN] = linesOf("next");
  const stillThere = linesOf("first").filter((at) => at >= begun);
  expect(stillThere).toEqual([]);
}

let relay: TcpRelay;
afterEach(() => relay.close());

describeWithRedis("over a lease in Redis that cannot be renewed,", (redis) => {
  test("a command that ignores SIGTERM is dead before the next one begins", async () => {
    relay = await tcpRelayTo(redis.url);
    const task = new URL(redis.url);
    await expectNoOverlap({ locks: relay.url, direct: task.href, vanish: () => relay.silence() });
  });
});

// A lost lock that ends its command is seen in brief by run-lifecycle.test.ts, with shorter times.
describeAtFullSize("over a lease in Cloud Storage that cannot be renewed,", () => {
  test("a command that ignores SIGTERM is dead before the next one begins", async () => {
    const standIn = await GcsStandIn.start({ buckets: ["locks"] });
    try {
      relay = await tcpRelayTo(standIn.url);
      await expectNoOverlap({
        locks: "gs://locks/jobs",
        direct: "gs://locks/jobs",
        env: { STORAGE_EMULATOR_HOST: relay.url.replace(/\/$/, "") },
        directEnv: { STORAGE_EMULATOR_HOST: standIn.url },
        vanish: () => relay.silence(),
      });
    } finally {
      await standIn.close();
    }
  });
});

describeWithPostgres("over a session in PostgreSQL whose network vanished,", (postgres) => {
  test("a command that ignores SIGTERM is dead before the next one begins", async () => {
    relay = await tcpRelayTo(postgres.url);
    await expectNoOverlap({
      locks: relay.url,
      direct: postgres.url,
      vanish: () => {
        relay.silence();
        // Nobody but the relay is silent: what the server would do with a host that vanished, the relay does for it.
        setTimeout(() => relay.cut(), sessionTimes(2_000, 5_000).serverSilenceMs).unref();
      },
    });
  });
});
