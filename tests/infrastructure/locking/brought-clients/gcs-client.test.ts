import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { Storage } from "@google-cloud/storage";
import { GcsLockProvider } from "../../../../src/locks";
import { GcsStandIn } from "../../../support/gcs-stand-in/gcs-stand-in";

let standIn: GcsStandIn;
const closing: (() => unknown)[] = [];
beforeEach(async () => {
  standIn = await GcsStandIn.start({ buckets: ["locks"] });
});
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
  await standIn.close();
});

function provider(storage: Storage, location = "gs://locks/jobs"): GcsLockProvider {
  const made = new GcsLockProvider(location, { storage });
  closing.push(() => made.close());
  return made;
}

const endpoint = (more: object = {}): Storage =>
  new Storage({ apiEndpoint: standIn.url, projectId: "mine", ...more });

test("a Storage that is brought along says where the service is, whatever the environment says", async () => {
  process.env["STORAGE_EMULATOR_HOST"] = "http://127.0.0.1:1";
  try {
    // Made where the variable is not set, as a program does that is configured otherwise.
    delete process.env["STORAGE_EMULATOR_HOST"];
    const storage = endpoint();
    process.env["STORAGE_EMULATOR_HOST"] = "http://127.0.0.1:1";
    const byClient = provider(storage);
    const byAddress = new GcsLockProvider("gs://locks/jobs", { emulatorHost: standIn.url });
    closing.push(() => byAddress.close());
    await byClient.withLock("a", () =>
      expect(byAddress.withLock("a", () => "in", { timeout: 0 })).rejects.toMatchObject({
        code: "lock_timeout",
      }),
    );
  } finally {
    delete process.env["STORAGE_EMULATOR_HOST"];
  }
});

test("its credentials go with each request where it would send them itself", async () => {
  const seen: (string | undefined)[] = [];
  const server = createServer(({ headers }, answer) => {
    seen.push(headers.authorization);
    answer.writeHead(403).end("{}");
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  closing.push(() => server.close());
  const apiEndpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const asked = async (more: object): Promise<unknown> => {
    const storage = endpoint({ apiEndpoint, ...more });
    storage.authClient.getRequestHeaders = async () => ({ Authorization: "Bearer of-the-user" });
    const refused = provider(storage).withLock("a", () => undefined);
    await expect(refused).rejects.toMatchObject({ code: "lock_unavailable", permanent: true });
    return seen.at(-1);
  };
  expect(await asked({})).toBeUndefined();
  expect(await asked({ useAuthWithCustomEndpoint: true })).toBe("Bearer of-the-user");
});

test("stays its owner's: it works on after the locks are closed, and keeps its own settings", async () => {
  const storage = endpoint({ retryOptions: { autoRetry: true, maxRetries: 2 } });
  const locks = new GcsLockProvider("gs://locks/jobs", { storage });
  await locks.withLock("a", () => undefined, { release: "await" });
  await locks.close();
  for (let tries = 0; standIn.openSockets > 0; tries += 1) {
    expect(tries).toBeLessThan(100);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  expect(storage.retryOptions).toMatchObject({ autoRetry: true, maxRetries: 2 });
  const [files] = await storage.bucket("locks").getFiles();
  expect(files.map(({ name }) => name)).toEqual(["jobs/a.json"]);
});
