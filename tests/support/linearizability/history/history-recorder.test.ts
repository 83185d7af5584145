import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { temporaryDirectory } from "../../worlds/temporary-directory";
import { HistoryRecorder, readHistories } from "./history-recorder";

const temporary = temporaryDirectory();

/** Resolves when it has recorded everything and was killed. */
async function killedClient(name: string, file: string): Promise<void> {
  const script = join(__dirname, "recording-client.ts");
  const child = spawn(process.execPath, ["-r", require.resolve("esbuild-register"), script, name, file]);
  await once(child.stdout, "data");
  child.kill("SIGKILL");
  await once(child, "close");
}

test("the histories of clients that were killed are one history by one clock, and what was not answered is open", async () => {
  const files = ["first", "second"].map((name) => join(temporary.path, name));
  const own = new HistoryRecorder("own", join(temporary.path, "own"));
  await killedClient("first", files[0]!);
  own.begin({ method: "GET", path: "/", key: null, body: null })({ status: 200, body: {} });
  await killedClient("second", files[1]!);
  const history = readHistories([...files.reverse(), join(temporary.path, "own")]);
  expect(history.map(({ client, answer }) => [client, answer?.status ?? null])).toEqual([
    ["first", 201],
    ["first", null],
    ["own", 200],
    ["second", 201],
    ["second", null],
  ]);
  for (const { begin, end, answer } of history) expect(end === null).toBe(answer === null && begin > 0);
  expect(history.map(({ begin }) => begin)).toEqual(history.map(({ begin }) => begin).sort((a, b) => a - b));
});
