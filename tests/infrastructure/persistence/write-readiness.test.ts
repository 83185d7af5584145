import { StoreUnavailableError, type StoreTrouble } from "../../../src/application/ports/payment-repository";
import { WriteReadiness } from "../../../src/infrastructure/persistence/write-readiness";

let nowMs: number;
let tried: string[];
/** What each trial fails with; nothing: it succeeds. */
let trouble: { small?: StoreUnavailableError; long?: StoreUnavailableError };
let readiness: WriteReadiness;

const failure = (reason: StoreTrouble) => new StoreUnavailableError("no", { reason });
const trial = (name: "small" | "long") => async () => {
  tried.push(name);
  await Promise.resolve();
  if (trouble[name] !== undefined) throw trouble[name];
};

beforeEach(() => {
  nowMs = 10_000;
  tried = [];
  trouble = {};
  readiness = new WriteReadiness({ small: trial("small"), long: trial("long") }, () => nowMs);
});

test("a store that nobody writes to is tried once a second, however many ask", async () => {
  for (let ms = 0; ms < 3_000; ms += 50, nowMs += 50) await Promise.all([readiness.ask(), readiness.ask()]);
  expect(tried).toEqual(["small", "small", "small"]);
});

test("a store that takes real writes is not tried", async () => {
  for (let ms = 0; ms < 3_000; ms += 500, nowMs += 500) {
    readiness.succeeded();
    await readiness.ask();
  }
  expect(tried).toEqual([]);
});

test("a real write that failed is told at once, without a trial", async () => {
  await readiness.ask();
  readiness.failed(failure("full"));
  await expect(readiness.ask()).rejects.toMatchObject({ reason: "full" });
  expect(tried).toEqual(["small"]);
});

test("small writes that succeed do not hide that long ones fail", async () => {
  trouble.long = failure("full");
  readiness.failed(failure("full"));
  for (let seconds = 0; seconds < 5; seconds += 1) {
    nowMs += 1_000;
    readiness.succeeded();
    await expect(readiness.ask()).rejects.toMatchObject({ reason: "full" });
  }
  expect(new Set(tried)).toEqual(new Set(["long"]));
});

test("a store that has room again is ready after a second, without any traffic", async () => {
  readiness.failed(failure("full"));
  nowMs += 999;
  await expect(readiness.ask()).rejects.toMatchObject({ reason: "full" });
  nowMs += 1;
  await expect(readiness.ask()).resolves.toBeUndefined();
  expect(tried).toEqual(["long"]);
});

test("a write that fails while a trial is under way is not forgotten when the trial succeeds", async () => {
  readiness.failed(failure("full"));
  nowMs += 1_000;
  const asked = readiness.ask();
  readiness.failed(failure("disk_error"));
  await expect(asked).rejects.toMatchObject({ reason: "disk_error" });
});

test("a damaged store stays so: a trial that finds nothing wrong says nothing about the damaged page", async () => {
  readiness.failed(failure("damaged"));
  readiness.failed(failure("full"));
  nowMs += 60_000;
  await expect(readiness.ask()).rejects.toMatchObject({ reason: "damaged" });
  expect(tried).toEqual([]);
});

test("what a trial fails with is told, and remembered; what is no trouble of the store is thrown as it is", async () => {
  trouble.small = failure("full");
  await expect(readiness.ask()).rejects.toBe(trouble.small);
  await expect(readiness.ask()).rejects.toBe(trouble.small);
  expect(tried).toEqual(["small"]);
  const broken = new WriteReadiness({
    small: () => Promise.reject(new Error("a mistake")),
    long: trial("long"),
  });
  await expect(broken.ask()).rejects.toThrow("a mistake");
});
