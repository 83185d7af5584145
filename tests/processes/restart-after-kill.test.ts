import { setTimeout as pause } from "node:timers/promises";
import { HoldfastCli } from "../support/program/holdfast-cli";
import { SteadyClient, type Answer } from "../support/program/steady-client";
import { HistoryRecorder } from "../support/linearizability/history/history-recorder";
import { freePort } from "../support/servers/own-process";
import { expectGood } from "./histories/expect-good";
import { testAtFullSize } from "../support/servers/servers";

jest.setTimeout(60_000);
const holdfast = new HoldfastCli();
const KILLS = 4;
const CALLERS = 12;
/** So many times between two kills. */
const WRITES = 50;
const body = { amount: 500, currency: "EUR", paymentMethod: "tok_ok" };

testAtFullSize(
  "a server that was killed while it wrote answers no authorization with 503 when it is back, not even the first",
  async () => {
    const port = String(await freePort());
    const url = `http://127.0.0.1:${port}`;
    const start = () => holdfast.start(["serve", "--port", port, "--log-level", "warn"]);
    const recorder = new HistoryRecorder("callers", `${holdfast.folder}/history.jsonl`);
    const client = new SteadyClient(recorder);
    const answers: Answer[] = [];
    let server = start();
    let over = false;
    let written = 0;
    const caller = async (name: number): Promise<void> => {
      for (let n = 0; !over; n += 1) {
        // The same key until somebody answers: what the killed one began is finished by the next one.
        let answer: Answer | null = null;
        while (answer === null && !over) {
          answer = await client.post(url, "/payments", `${name}-${n}`, body);
          if (answer === null) await pause(10);
        }
        if (answer !== null) answers.push(answer);
        written += 1;
      }
    };
    const callers = Array.from({ length: CALLERS }, (_, name) => caller(name));
    const said: string[] = [];
    try {
      for (let kill = 0; kill < KILLS; kill += 1) {
        await server.url();
        const atLeast = written + WRITES;
        // Nobody has to be quick: it is killed when it has written, and while it writes.
        while (written < atLeast) await pause(5);
        said.push((await server.end("SIGKILL")).stderr);
        server = start();
      }
      await server.url();
      const atLeast = written + WRITES;
      while (written < atLeast) await pause(5);
    } finally {
      over = true;
      await Promise.all(callers);
      client.close();
    }
    expect(answers.filter(({ status }) => status >= 500)).toEqual([]);
    expect(answers.filter(({ status }) => status === 201).length).toBeGreaterThan(KILLS * WRITES);
    expectGood("killed while it writes", recorder.history, { leastCalls: KILLS * WRITES, kills: KILLS });
    expect(said.join("\n")).not.toContain("a dependency failed");
  },
);
