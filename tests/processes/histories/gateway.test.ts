import { join } from "node:path";
import { HistoryRecorder } from "../../support/linearizability/history/history-recorder";
import { reliable } from "../../support/linearizability/payment/gateway-behaviour";
import { startedProgram } from "../../support/program/built-program";
import { HoldfastProcess } from "../../support/program/holdfast-process";
import { isFullStorm, stormSeed } from "../../support/storms";
import { temporaryDirectory } from "../../support/worlds/temporary-directory";
import { expectGood } from "./expect-good";
import { historyStorm, lull } from "./history-storm";
import { NaiveBank } from "./naive-bank";
import { StormServers } from "./storm-servers";
import { testAtFullSize } from "../../support/servers/servers";

const KILLS = isFullStorm ? 10 : 2;
const CALLERS = 12;
const BETWEEN_KILLS = { ms: 2_000, answers: 0 };
const KINDS = ["authorize", "capture", "void", "refund"] as const;

jest.setTimeout(isFullStorm ? 900_000 : 180_000);
const temporary = temporaryDirectory();
const bank = new NaiveBank();
afterEach(() => bank.close());

testAtFullSize(
  "a gateway that loses, repeats, delays and lies, and a server that is killed: each payment's history is one that the tables allow, and the bank moved as much",
  async () => {
    const env = { HOLDFAST_GATEWAY_OPTION_BANK_URL: await bank.listen() };
    const gateway = `module:${join(__dirname, "unreliable-gateway.cjs")}`;
    const args = [
      "serve",
      "--port",
      "0",
      "--gateway",
      gateway,
      "--log-level",
      "fatal",
      "--shutdown-delay",
      "0",
    ];
    const main = await startedProgram();
    const servers = await StormServers.open(
      1,
      () => new HoldfastProcess([main, ...args], { cwd: temporary.path, env }),
    );
    const recorder = new HistoryRecorder("callers", `${temporary.path}/history.jsonl`);
    try {
      await historyStorm({
        seed: stormSeed(4),
        recorder,
        servers,
        callers: CALLERS,
        callsEach: 60,
        paymentMethods: ["card"],
        trouble: async () => {
          for (let kill = 0; kill < KILLS; kill += 1) {
            await lull(recorder, BETWEEN_KILLS);
            await servers.killAndRestart(0);
          }
          await lull(recorder, BETWEEN_KILLS);
        },
        moves: async (paymentId) => {
          const path = `/gateway/payments/${paymentId}`;
          const record = recorder.begin({ method: "GET", path, key: null, body: null });
          record({ status: 200, body: { moves: bank.moves(paymentId) } });
        },
      });
    } finally {
      await servers.end();
    }
    expectGood("a lying gateway", recorder.history, {
      gateway: () => ({ ...reliable, isNotReached: KINDS }),
      kills: servers.kills,
    });
  },
);
