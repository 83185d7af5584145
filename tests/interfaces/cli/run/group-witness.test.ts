import childProcess, { type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { GroupWitness } from "../../../../src/interfaces/cli/run/group-witness";

let witness: GroupWitness;
let started: jest.SpiedFunction<typeof childProcess.spawn>;

beforeEach(() => {
  started = jest.spyOn(childProcess, "spawn");
  witness = new GroupWitness();
});
afterEach(() => witness.close());

/** What reaches everybody reaches the witness, too. */
const sendToAll = (signal: NodeJS.Signals) => latest().kill(signal);
const latest = () => started.mock.results.at(-1)!.value as ChildProcess;

async function seenToDieOf(signal: NodeJS.Signals): Promise<void> {
  const dies = once(latest(), "exit");
  sendToAll(signal);
  await dies;
}

test("a signal that reached the witness was sent to all, whoever hears of it first", async () => {
  const asked = witness.wasSentToAll("SIGINT");
  sendToAll("SIGINT");
  await expect(asked).resolves.toBe(true);
  await seenToDieOf("SIGINT");
  await expect(witness.wasSentToAll("SIGINT")).resolves.toBe(true);
});

test("one that did not reach the witness was sent to us alone, even right after one to all", async () => {
  await expect(witness.wasSentToAll("SIGTERM")).resolves.toBe(false);
  await seenToDieOf("SIGINT");
  await expect(witness.wasSentToAll("SIGINT")).resolves.toBe(true);
  await expect(witness.wasSentToAll("SIGINT")).resolves.toBe(false);
});

test("a signal to us alone that is heard first does not hide one that was sent to all", async () => {
  const toUs = witness.wasSentToAll("SIGTERM");
  await seenToDieOf("SIGINT");
  await expect(toUs).resolves.toBe(false);
  await expect(witness.wasSentToAll("SIGINT")).resolves.toBe(true);

  await seenToDieOf("SIGINT");
  await expect(witness.wasSentToAll("SIGTERM")).resolves.toBe(false);
  await expect(witness.wasSentToAll("SIGINT")).resolves.toBe(true);
});
