import { setTimeout as pause } from "node:timers/promises";
import { HistoryRecorder } from "../../support/linearizability/history/history-recorder";
import { startedProgram } from "../../support/program/built-program";
import { HoldfastProcess } from "../../support/program/holdfast-process";
import { freePort } from "../../support/servers/own-process";
import { isFullStorm, stormSeed } from "../../support/storms";
import { temporaryDirectory } from "../../support/worlds/temporary-directory";
import { expectGood } from "./expect-good";
import { historyStorm } from "./history-storm";
import { everyMisfortune } from "./misfortunes";
import { StormServers } from "./storm-servers";

const KILLS = isFullStorm ? 25 : 6;
const BETWEEN_KILLS_MS = 700;

jest.setTimeout(isFullStorm ? 900_000 : 120_000);
const temporary = temporaryDirectory();

test(`one server on SQLite, killed ${KILLS} times: every payment's history is one that the tables allow`, async () => {
  const main = await startedProgram();
  const port = String(await freePort());
  const args = [main, "serve", "--port", port, "--log-level", "fatal", "--shutdown-delay", "0"];
  const servers = await StormServers.open(1, () => new HoldfastProcess(args, { cwd: temporary.path }));
  const recorder = new HistoryRecorder("callers", `${temporary.path}/history.jsonl`);
  try {
    await historyStorm({
      seed: stormSeed(1),
      recorder,
      servers,
      callers: 12,
      callsEach: 60,
      paymentMethods: everyMisfortune,
      trouble: async () => {
        for (let kill = 0; kill < KILLS; kill += 1) {
          await pause(BETWEEN_KILLS_MS);
          await servers.killAndRestart(0);
        }
        await pause(BETWEEN_KILLS_MS);
      },
    });
  } finally {
    await servers.end();
  }
  expectGood("SQLite, killed", recorder.history, { kills: servers.kills });
});
