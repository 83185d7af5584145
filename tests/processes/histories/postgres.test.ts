import { setTimeout as pause } from "node:timers/promises";
import { HistoryRecorder } from "../../support/linearizability/history/history-recorder";
import { startedProgram } from "../../support/program/built-program";
import { HoldfastProcess } from "../../support/program/holdfast-process";
import { query } from "../../support/servers/postgres-locks";
import { describeWithPostgres } from "../../support/servers/servers";
import { isFullStorm, stormSeed } from "../../support/storms";
import { temporaryDirectory } from "../../support/worlds/temporary-directory";
import { expectGood } from "./expect-good";
import { historyStorm } from "./history-storm";
import { everyMisfortune } from "./misfortunes";
import { StormServers } from "./storm-servers";

const ROUNDS = isFullStorm ? 5 : 1;
const INSTANCES = 3;
const CALM_MS = 1_000;
/** Longer than a lock of a dead session is held, and than the gateway is waited for. */
const FROZEN_MS = isFullStorm ? 12_000 : 4_000;

jest.setTimeout(isFullStorm ? 1_200_000 : 180_000);
const temporary = temporaryDirectory();

describeWithPostgres("three instances on PostgreSQL, killed, frozen, and with dead sessions", (server) => {
  test.each([
    ["postgres:", "with locks"],
    ["none:", "without any lock"],
  ])("locks %s, %s: every payment's history is one that the tables allow", async (locks, how) => {
    const main = await startedProgram();
    const flags = ["--store", server.url, "--locks", locks, "--log-level", "fatal", "--shutdown-delay", "0"];
    // Without locks that all of them share, no two may share a snapshot directory.
    const alone = (at: number) => [
      "--allow-unlocked",
      "--snapshots",
      `file:${temporary.path}/snapshots-${at}`,
    ];
    const servers = await StormServers.open(
      INSTANCES,
      (at) =>
        new HoldfastProcess(
          [main, "serve", "--port", "0", ...flags, ...(locks === "none:" ? alone(at) : [])],
          { cwd: temporary.path },
        ),
    );
    const recorder = new HistoryRecorder("callers", `${temporary.path}/history.jsonl`);
    try {
      await historyStorm({
        seed: stormSeed(locks === "none:" ? 2 : 3),
        recorder,
        servers,
        callers: 12,
        callsEach: 60,
        paymentMethods: everyMisfortune,
        trouble: async () => {
          for (let round = 0; round < ROUNDS; round += 1) {
            await pause(CALM_MS);
            await servers.killAndRestart(round % INSTANCES);
            await pause(CALM_MS);
            await endSessions(server.url);
            await pause(CALM_MS);
            await servers.freeze((round + 1) % INSTANCES, FROZEN_MS);
            await Promise.all([servers.killAndRestart((round + 2) % INSTANCES), endSessions(server.url)]);
          }
          await pause(CALM_MS);
        },
      });
    } finally {
      await servers.end();
    }
    expectGood(`PostgreSQL, ${how}`, recorder.history, { kills: servers.kills });
  });
});

/** Every second session of the servers dies where it is, with its transaction and its locks. */
async function endSessions(url: string): Promise<void> {
  await query(
    url,
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
       WHERE datname = current_database() AND pid <> pg_backend_pid() AND pid % 2 = 0`,
  );
}
