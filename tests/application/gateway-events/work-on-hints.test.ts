import { setTimeout as pause } from "node:timers/promises";
import { WorkOnHints } from "../../../src/application/gateway-events/work-on-hints";
import { hintLimits } from "../../../src/application/gateway-events/hint-limits";
import type { HintObserver, HintOutcome } from "../../../src/application/gateway-events/hint-observer";
import { StoreUnavailableError } from "../../../src/application/ports/payment-repository";
import { SystemClock } from "../../../src/infrastructure/time/system-clock";
import { UuidV7Generator } from "../../../src/infrastructure/identity/uuid-v7-generator";
import { InMemoryHintStore } from "../../../src/infrastructure/persistence/memory/in-memory-hint-store";
import { Gate, until } from "../../support/fakes/gate";

const LONG_MS = 3_600_000;
const wall = new SystemClock();
let standsStill: Date | null = null;
const clock = { now: () => standsStill ?? wall.now() };
const hint = (reference: string) => ({ eventId: `evt_of_${reference}`, reference, labelled: null });

let store: InMemoryHintStore;
let followed: string[];
let failures: unknown[];
let answer: (reference: string) => Promise<HintOutcome>;
let work: WorkOnHints;

beforeEach(() => {
  standsStill = null;
  store = new InMemoryHintStore();
  followed = [];
  failures = [];
  answer = async () => "done";
  const observer: HintObserver = {
    received: () => {},
    worked: () => {},
    dropped: () => {},
    droppedBeyondLimit: () => {},
    failed: (error) => failures.push(error),
  };
  work = new WorkOnHints({
    store,
    followHint: {
      execute: async ({ reference }) => {
        followed.push(reference);
        return answer(reference);
      },
    },
    clock,
    monotonicMs: () => performance.now(),
    ids: new UuidV7Generator(clock),
    observer,
    // Whatever is noticed in this test was not found by looking again.
    limits: { ...hintLimits, pollMs: LONG_MS, busyMs: 1 },
  });
});
afterEach(() => work.stop());

const receive = async (...references: string[]) => {
  await store.receive(references.map(hint), clock.now());
  work.nudge();
};

test("the work on hints begins at once when it is told of one", async () => {
  work.start();
  await pause(0);
  await receive("pi_1");
  await until(() => followed.length === 1);
});

test("the work on hints comes back to a busy payment when it is time, without being told", async () => {
  answer = async () => (followed.length < 3 ? "busy" : "done");
  work.start();
  await receive("pi_1");
  for (let looks = 0; followed.length < 3 && looks < 2_000; looks += 1) await pause(1);
  expect(followed).toEqual(["pi_1", "pi_1", "pi_1"]);
});

test("the work on hints comes back to a busy payment although timers are over before the clock says so", async () => {
  standsStill = wall.now();
  answer = async () => (followed.length < 2 ? "busy" : "done");
  work.start();
  await receive("pi_1");
  await until(() => followed.length === 1);
  await pause(10);
  standsStill = null;
  await until(() => followed.length === 2);
});

test("the work on hints asks about eight payments at a time, and about the others when a place is free", async () => {
  const gate = new Gate();
  answer = async () => {
    await gate.passed;
    return "done";
  };
  work.start();
  await receive(...Array.from({ length: 20 }, (_, n) => `pi_${n}`));
  await until(() => followed.length === 8);
  await pause(20);
  expect(followed).toHaveLength(8);
  gate.open();
  await until(() => followed.length === 20);
  expect(new Set(followed).size).toBe(20);
});

test("the work on hints goes on after a store that failed, and tells of it", async () => {
  const claim = store.claim.bind(store);
  store.claim = () => Promise.reject(new StoreUnavailableError("down"));
  work.start();
  await receive("pi_1");
  await until(() => failures.length > 0);
  store.claim = claim;
  work.nudge();
  await until(() => followed.length === 1);
});

test("the work on hints that is stopped waits for what is under way, and begins nothing more", async () => {
  const gate = new Gate();
  answer = async () => {
    await gate.passed;
    return "done";
  };
  work.start();
  await receive("pi_1");
  await until(() => followed.length === 1);
  const stopping = work.stop();
  gate.open();
  await stopping;
  expect((await store.backlog()).waiting).toBe(0);
  await receive("pi_2");
  await pause(20);
  expect(followed).toEqual(["pi_1"]);
});

test("the work on hints that is stopped does not wait for ever", async () => {
  const gate = new Gate();
  answer = async () => {
    await gate.passed;
    return "done";
  };
  work.start();
  await receive("pi_1");
  await until(() => followed.length === 1);
  await work.stop(1);
  expect((await store.backlog()).waiting).toBe(1);
  gate.open();
});
