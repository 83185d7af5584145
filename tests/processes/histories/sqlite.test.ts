import { HistoryRecorder } from "../../support/linearizability/history/history-recorder";
import { startedProgram } from "../../support/program/built-program";
import { HoldfastProcess } from "../../support/program/holdfast-process";
import { freePort } from "../../support/servers/own-process";
import { isFullStorm, stormSeed } from "../../support/storms";
import { size } from "../../support/test-size";
import { temporaryDirectory } from "../../support/worlds/temporary-directory";
import { expectGood } from "./expect-good";
import { historyStorm, lull } from "./history-storm";
import { everyMisfortune } from "./misfortunes";
import { StormServers } from "./storm-servers";

const KILLS = isFullStorm ? 25 : size(6, 2);
/** In brief, callers who are in less of a hurry. */
const CALLERS = size({ count: 12, betweenTurnsMs: 0 }, { count: 6, betweenTurnsMs: 10 });
const BETWEEN_KILLS = size({ ms: 700, answers: 0 }, { ms: 300, answers: 100 });

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
      callers: CALLERS.count,
      betweenTurnsMs: CALLERS.betweenTurnsMs,
      callsEach: 60,
      paymentMethods: everyMisfortune,
      trouble: async () => {
        for (let kill = 0; kill < KILLS; kill += 1) {
          await lull(recorder, BETWEEN_KILLS);
          await servers.killAndRestart(0);
        }
        await lull(recorder, BETWEEN_KILLS);
      },
    });
  } finally {
    await servers.end();
  }
  expectGood("SQLite, killed", recorder.history, { kills: servers.kills });
});
