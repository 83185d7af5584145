import { spawnSync } from "node:child_process";
import { matrix, wanted, type Tried } from "../../../scripts/matrix";
import { projectRoot } from "../planted-project";

const told = async (lines: Readonly<Record<string, () => Promise<Tried>>>) => {
  const rows: string[] = [];
  const isGood = await matrix(
    Object.keys(lines),
    (line) => lines[line]!(),
    (row) => rows.push(row),
  );
  return { isGood, rows };
};
const good = async (): Promise<Tried> => ({
  version: "v24.0.0",
  outcomes: [
    { isGood: true, said: "start, a capture twice 20 s" },
    { isGood: true, said: "7 passed, 0 failed" },
  ],
});
const failing = async (): Promise<Tried> => ({
  version: "v26.0.0",
  outcomes: [{ isGood: false, said: "start, a capture twice 300 s" }],
});

describe("the matrix of Node's lines", () => {
  test("tries all lines and their tests unless told otherwise, and refuses what is no line", () => {
    expect(wanted([])).toEqual({ lines: ["20", "22", "24", "latest"], hasTests: true });
    expect(wanted(["--no-tests", "22", "26.1.0"])).toEqual({ lines: ["22", "26.1.0"], hasTests: false });
    expect(() => wanted(["22", "--quick"])).toThrow("no line of Node: --quick");
  });

  test("has a row for each line, also after one that failed or could not be had", async () => {
    const { isGood, rows } = await told({
      26: failing,
      99: () => Promise.reject(new Error("no such version")),
      24: good,
    });
    expect(isGood).toBe(false);
    // In the order in which they were tried: names that are numbers are sorted.
    expect(rows).toEqual([
      "node 24       v24.0.0     ok  start, a capture twice 20 s  ok  7 passed, 0 failed",
      "node 26       v26.0.0     FAILED  start, a capture twice 300 s",
      "node 99       none        FAILED  could not be had: no such version",
    ]);
  });

  test("is good if all lines are", async () => {
    expect((await told({ 24: good, latest: good })).isGood).toBe(true);
  });

  test("ends with the status of a wrong call before it fetches anything", () => {
    const { status, stderr } = spawnSync(
      process.execPath,
      ["-r", "esbuild-register", "scripts/matrix.ts", "twenty"],
      { cwd: projectRoot, encoding: "utf8" },
    );
    expect([status, stderr]).toEqual([64, "no line of Node: twenty\n"]);
  });
});
