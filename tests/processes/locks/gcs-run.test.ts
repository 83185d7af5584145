import { startedProgram } from "../../support/program/built-program";
import { GcsStandIn } from "../../support/gcs-stand-in/gcs-stand-in";
import { HoldfastProcess } from "../../support/program/holdfast-process";
import { temporaryDirectory } from "../../support/worlds/temporary-directory";

const temporary = temporaryDirectory();
const PATIENCE_MS = 60_000;

let program: string;
let standIn: GcsStandIn;
let started: HoldfastProcess[];

beforeAll(async () => {
  program = await startedProgram();
}, 120_000);

beforeEach(async () => {
  standIn = await GcsStandIn.start({ buckets: ["locks"] });
  started = [];
});

afterEach(async () => {
  await Promise.all(started.map((run) => run.end("SIGKILL")));
  await standIn.close();
});

/** `holdfast run nightly` on the stand-in's bucket. */
function run(
  options: readonly string[],
  command: readonly string[],
  locks = "gs://locks/jobs",
): HoldfastProcess {
  const process = new HoldfastProcess(
    [program, "run", ...options, "nightly", "--locks", locks, "--", ...command],
    {
      cwd: temporary.path,
      env: { STORAGE_EMULATOR_HOST: standIn.url },
    },
  );
  started.push(process);
  return process;
}

const node = (script: string) => [process.execPath, "-e", script];
/** Says on stderr that it runs, and stays until it is ended. */
const UNTIL_ENDED = node(`console.error("running"); setInterval(() => {}, 1000)`);

const OBJECT = "jobs/task:nightly.json";
const record = () =>
  JSON.parse(standIn.state.objectsOf("locks").get(OBJECT)?.content.toString() ?? "null") as Record<
    string,
    unknown
  >;

/** Resolves when the record is as expected. */
async function recordShows(expected: (record: Record<string, unknown>) => boolean): Promise<void> {
  while (!expected(record())) await new Promise((resolve) => setTimeout(resolve, 5));
}

test(
  "the command runs under the lease, is told its fencing token, and its status is passed on",
  async () => {
    const script = `console.log(process.env.HOLDFAST_LOCK_KEY, process.env.HOLDFAST_FENCING_TOKEN); process.exit(7)`;
    const { status, stdout } = await run([], node(script)).ended;
    expect(status).toBe(7);
    expect(stdout.trim()).toBe(`task:nightly ${String(record()["fence"])}`);
    expect(record()).toMatchObject({ ownerId: null, waitingOwnerId: null });
  },
  PATIENCE_MS,
);

test(
  "75 while another holds it, 76 while yet another waits for it, and the one who waits comes next",
  async () => {
    const holder = run([], UNTIL_ENDED);
    await holder.said(/running/);
    const refused = await run([], node("process.exit(0)")).ended;
    expect([refused.status, refused.stderr]).toEqual([75, expect.stringContaining(`pid ${holder.pid}`)]);

    const waiter = run(["--lock-timeout", "50"], node("process.exit(0)"));
    await recordShows((shown) => shown["waitingOwnerId"] !== null);
    const contended = await run([], node("process.exit(0)")).ended;
    expect([contended.status, contended.stderr]).toEqual([76, expect.stringContaining(`:${waiter.pid}:`)]);

    await holder.end("SIGTERM");
    expect((await waiter.ended).status).toBe(0);
  },
  PATIENCE_MS,
);

test(
  "79 and the end of the command when the record names another at the next renewal",
  async () => {
    const holder = run([], UNTIL_ENDED);
    await holder.said(/running/);
    const stolen = { ...record(), ownerId: "somebody:1:else", fence: Number(record()["fence"]) + 1 };
    standIn.state.insert("locks", OBJECT, Buffer.from(JSON.stringify(stolen)), {
      contentType: "application/json",
    });
    const { status, stderr } = await holder.ended;
    expect(stderr).toContain("somebody:1:else");
    expect(status).toBe(79);
    expect(record()).toMatchObject({ ownerId: "somebody:1:else" });
  },
  PATIENCE_MS,
);

test(
  "a missing bucket is told in words, before anything runs",
  async () => {
    const { status, stderr, stdout } = await run([], node(`console.log("ran")`), "gs://none/jobs").ended;
    expect(stderr).toContain("there is no bucket none");
    expect(stdout).toBe("");
    expect(status).toBe(69);
  },
  PATIENCE_MS,
);
