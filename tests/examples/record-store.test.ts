import { readFileSync } from "node:fs";
import { join } from "node:path";
import { InstalledPackage } from "../support/program/installed-package";
import { filesWithErrors, keptWithout } from "./kept-contracts";
import { S3StandIn, type S3Fault } from "../support/s3-stand-in";
import { size } from "../support/test-size";
import { describeAtFullSize } from "../support/servers/servers";

jest.setTimeout(180_000);
const EXAMPLE = join(__dirname, "../../examples/record-store");
const source = readFileSync(join(EXAMPLE, "s3-records.mjs"), "utf8");
const contract = readFileSync(join(EXAMPLE, "contract.test.mjs"), "utf8");

let installed: InstalledPackage;
let standIn: S3StandIn;
beforeAll(async () => {
  installed = await InstalledPackage.install();
  installed.write("contract.test.mjs", contract);
});
afterAll(() => installed.remove());
beforeEach(async () => {
  standIn = await S3StandIn.start("locks");
  installed.write("s3-records.mjs", source);
});
afterEach(() => standIn.close());

const environment = () => ({ S3_FOLDER: `${standIn.url}/locks/test/` });
const run = (file: string): Promise<string> =>
  installed
    .run(file, environment())
    .catch(({ stdout, stderr }: { stdout: string; stderr: string }) => stdout + stderr);

/** What a script prints that has the store of the example, and prints JSON. */
async function printed(script: string): Promise<unknown> {
  installed.write(
    "script.mjs",
    `import * as locks from "holdfast/locks";
     import { S3LeaseRecordStore } from "./s3-records.mjs";
     const folder = process.env.S3_FOLDER;
     const store = new S3LeaseRecordStore(folder);
     const record = { ownerId: "me", expiresAt: 1, waitingOwnerId: null, waiterExpiresAt: null };
     const outcome = (asked) => asked.then(
       (answer) => (answer === null ? null : typeof answer === "string" ? (answer === "conflict" ? answer : "written") : "read"),
       (error) => error.name + (error.throttled ? ", throttled" : ""));
     ${script}`,
  );
  const said = await installed.run("script.mjs", environment()).catch(({ stderr }) => String(stderr));
  try {
    return JSON.parse(said) as unknown;
  } catch {
    throw new Error(said);
  }
}

describeAtFullSize("the example of a record store over S3", () => {
  it("has less than 100 lines, and the types of holdfast/locks", () => {
    expect(source.split("\n").length).toBeLessThan(101);
    installed.write("wrong.mjs", source.replace("storeNowMs:", "storeNow:"));
    const all = ["s3-records.mjs", "contract.test.mjs", "wrong.mjs"];
    expect(filesWithErrors(() => installed.compileSamples(all))).toEqual(["wrong.mjs"]);
  });

  it("keeps the contract", async () => {
    const said = await run("contract.test.mjs");
    expect(said).toMatch(/^(?:# |ℹ )fail 0$/m);
    expect(Number(/^(?:# |ℹ )pass (\d+)$/m.exec(said)?.[1])).toBeGreaterThan(15);
  });

  const guards: readonly (readonly [right: string, wrong: string])[] = [
    // Otherwise it would write whatever is there, …
    ['{ "If-Match": ifVersion };', "{};"],
    // … make a record where something is, …
    ['{ "If-None-Match": "*" }', "{}"],
    // … tell two states apart by their bytes alone, …
    ["nonce: randomUUID()", "nonce: 1"],
    // … remove any version, …
    ['"DELETE", id, { "If-Match": ifVersion }', '"DELETE", id'],
    // … and take ids for paths.
    ["encodeURIComponent(`${encodeURIComponent(id)}.json`)", "`${id}.json`"],
  ];

  it("would not keep the contract without each of its guards", async () => {
    const example = { file: "s3-records.mjs", source, contract };
    expect(await keptWithout(installed, example, guards, environment())).toEqual([]);
  });

  it("says what each answer means: a conflict, try again, try more slowly, or never", async () => {
    const faults: S3Fault[] = [412, 409, 503, 429, 500, 403, 401, "lost", "answer lost"];
    const left = [...faults];
    standIn.fault = () => left.shift();
    const asked = `await outcome(store.write("a", record, "absent"))`;
    const told = await printed(
      `console.log(JSON.stringify([${faults.map(() => asked).join(", ")}, ${asked}, await outcome(store.read("a"))]))`,
    );
    expect(told).toEqual([
      "conflict",
      "TransientLeaseStoreError",
      "TransientLeaseStoreError, throttled",
      "TransientLeaseStoreError, throttled",
      "TransientLeaseStoreError",
      "PermanentLeaseStoreError",
      "PermanentLeaseStoreError",
      "TransientLeaseStoreError",
      "TransientLeaseStoreError",
      // The one before was carried out, and only its answer was lost.
      "conflict",
      "read",
    ]);
  });

  it("never takes a missing bucket for a free lock", async () => {
    const told = await printed(
      `const elsewhere = new S3LeaseRecordStore(folder.replace("/locks/", "/lost/"));
       console.log(JSON.stringify([
         await outcome(elsewhere.read("a")), await outcome(elsewhere.write("a", record, "absent")), await outcome(store.read("a")),
       ]))`,
    );
    expect(told).toEqual(["PermanentLeaseStoreError", "PermanentLeaseStoreError", null]);
  });

  it("keeps callers of several providers apart while answers are lost, and conflicts and refusals come by chance", async () => {
    let requests = 0;
    const faults: S3Fault[] = ["answer lost", 409, "lost", 503, 500];
    // One request in six, in turn.
    standIn.fault = () => ((requests += 1) % 6 === 0 ? faults[(requests / 6) % faults.length] : undefined);
    const rounds = size(6, 2);
    const told = await printed(
      `const lease = { ttlMs: 3_000, marginMs: 2_000, waiterCheckMs: 100, waiterPollMs: 50, waiterRenewMs: 500,
         waiterTtlMs: 1_500, yieldMs: 1_000, requestTimeoutMs: 1_000 };
       const providers = [1, 2, 3].map(() => new locks.LeaseLockProvider(new S3LeaseRecordStore(folder), { lease }));
       let inside = 0, most = 0, entered = 0;
       const fences = [];
       const once = (provider) => provider.withLock("a", async ({ fencingToken }) => {
         most = Math.max(most, (inside += 1));
         entered += 1;
         fences.push(fencingToken);
         await new Promise((resolve) => setTimeout(resolve, 20));
         inside -= 1;
       }, { timeout: 100_000 });
       await Promise.all(providers.map(async (provider) => {
         for (let round = 0; round < ${rounds}; round += 1) await once(provider);
       }));
       await Promise.all(providers.map((provider) => provider.close()));
       const grow = fences.every((fence, n) => n === 0 || fence > fences[n - 1]);
       console.log(JSON.stringify({ most, entered, grow }))`,
    );
    expect(told).toEqual({ most: 1, entered: 3 * rounds, grow: true });
    expect(requests).toBeGreaterThan(20);
  });
});
