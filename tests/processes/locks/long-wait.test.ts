import { availableParallelism, loadavg } from "node:os";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { builtProgram } from "../../support/program/built-program";
import { GcsStandIn } from "../../support/gcs-stand-in/gcs-stand-in";
import { waitAtEach, type LongWaits, type WaitsWith } from "../../support/worlds/long-waits";
import { describeWithPostgres, describeWithRedis } from "../../support/servers/servers";
import { temporaryDirectory } from "../../support/worlds/temporary-directory";
import { size } from "../../support/test-size";

const SECONDS = size(300, 3);
/** What starting leaves behind to be done (the first collections) is not what waiting costs. */
const SETTLED_MS = size(30_000, 0);
const CPU_SHARE = 0.001;
const LATE_MS = 1_000;

jest.setTimeout((SECONDS + 120) * 1_000);

const temporary = temporaryDirectory();
let program: string;
let standIn: GcsStandIn;

beforeAll(async () => {
  program = await builtProgram();
}, 120_000);

beforeEach(async () => (standIn = await GcsStandIn.start({ buckets: ["locks"] })));
afterEach(() => standIn.close());

const SERVERLESS: Readonly<Record<string, WaitsWith>> = {
  memory: { library: "memory" },
  "file, kernel": { locks: "file:kernel?mode=kernel" },
  "file, exclusive-create": { locks: "file:created?mode=exclusive-create" },
  gcs: { locks: "gs://locks/long" },
};

/** Waits, and looks that each was told at its limit, give or take a second and what this process itself was stopped for. */
async function expectOnTime(adapters: Readonly<Record<string, WaitsWith>>): Promise<LongWaits> {
  const lag = monitorEventLoopDelay({ resolution: 20 });
  lag.enable();
  const outcome = await waitAtEach(adapters, {
    main: program,
    folder: temporary.path,
    seconds: SECONDS,
    settledMs: SETTLED_MS,
    env: { STORAGE_EMULATOR_HOST: standIn.url },
  });
  lag.disable();
  const allowedMs = LATE_MS + lag.max / 1e6;
  expect(outcome.waits.map(({ adapter }) => adapter)).toEqual(Object.keys(adapters));
  expect(outcome.waits.filter(({ lateMs }) => Math.abs(lateMs) > allowedMs)).toEqual([]);
  return outcome;
}

if (SECONDS < 60)
  test("a wait in vain ends at its limit, whichever lock it waits for", async () => {
    await expectOnTime(SERVERLESS);
  });
else
  describeWithPostgres("a wait of five minutes", (postgres) => {
    describeWithRedis("for each lock", (redis) => {
      it("ends at its limit, and costs no more than a thousandth of a core", async () => {
        const { waits, wakeUpMs } = await expectOnTime({
          ...SERVERLESS,
          postgres: { locks: postgres.url },
          "postgres, lease": { library: "lease", url: postgres.url },
          redis: { locks: redis.url },
        });
        // Where others want the cores as well, caches are cold after each pause, and the same look takes longer.
        const busy = Math.max(1, loadavg()[1]! / availableParallelism());
        const limit = CPU_SHARE * busy + wakeUpMs / 1_000;
        expect(waits.filter(({ cpuShare }) => !(cpuShare <= limit))).toEqual([]);
      });
    });
  });
