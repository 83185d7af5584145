import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const root = join(__dirname, "../../..");

/**
 * Leaves everything behind that a test file can leave, or looks for it. `kept` is a module of the tests that counts, `src/kept` one
 * of the program.
 */
const leaves = `
  test("leaves much behind", () => {
    expect([require("./kept").count(), require("./src/kept").count()]).toEqual([1, 1]);
    globalThis.left = "a global";
    globalThis.structuredClone = () => "spoilt";
    process.env.HOLDFAST_LEFT = "a variable";
    process.env.PATH = "/nowhere";
    process.chdir("/");
    jest.spyOn(JSON, "parse").mockReturnValue("spied");
    jest.useFakeTimers();
  });
`;
const looks = (folder: string, countOfProgram: number) => `
  test("finds nothing of it", async () => {
    expect([require("./kept").count(), require("./src/kept").count()]).toEqual([1, ${countOfProgram}]);
    expect(typeof left).toBe("undefined");
    expect(structuredClone(1)).toBe(1);
    expect(process.env.HOLDFAST_LEFT).toBeUndefined();
    expect(process.env.PATH).not.toBe("/nowhere");
    expect(process.cwd()).toBe(${JSON.stringify(folder)});
    expect(JSON.parse("1")).toBe(1);
    await new Promise((resolve) => setTimeout(resolve, 1));
  });
  test("fails for what it left running", async () => {
    void Promise.reject(new Error("nobody waits for this"));
    await new Promise((resolve) => setTimeout(resolve, 5));
  });
`;

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "holdfast-realm-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

it.each([
  ["at full size", "full", 1],
  ["in brief, where the program stays loaded", "", 2],
])(
  "what a test file leaves behind is gone for the next one of its worker, and an error that nobody handles fails its test: %s",
  (_, testSize, countOfProgram) => {
    const support = join(root, "tests/support/jest");
    const config = {
      rootDir: folder,
      testEnvironment: join(support, "environment.cjs"),
      runtime: join(support, "runtime.cjs"),
      transform: {},
      testPathIgnorePatterns: [],
      modulePathIgnorePatterns: [],
    };
    writeFileSync(join(folder, "jest.config.json"), JSON.stringify(config));
    writeFileSync(join(folder, "order.cjs"), ORDER);
    mkdirSync(join(folder, "src"));
    for (const path of ["kept.js", "src/kept.js"])
      writeFileSync(join(folder, path), "let n = 0; exports.count = () => (n += 1);");
    writeFileSync(join(folder, "a.test.js"), leaves);
    writeFileSync(join(folder, "b.test.js"), looks(folder, countOfProgram));
    const args = ["-i", "--json", "--testSequencer", join(folder, "order.cjs")];
    const { stdout, stderr } = spawnSync(
      process.execPath,
      [join(root, "node_modules/jest/bin/jest.js"), ...args],
      {
        cwd: folder,
        encoding: "utf8",
        env: { ...process.env, HOLDFAST_TEST_SIZE: testSize },
      },
    );
    const { testResults } = JSON.parse(stdout) as {
      testResults: { assertionResults: { title: string; status: string; failureMessages: string[] }[] }[];
    };
    const results = testResults.flatMap(({ assertionResults }) => assertionResults);
    expect([results.map(({ title, status }) => [title, status]), stderr]).toEqual([
      [
        ["leaves much behind", "passed"],
        ["finds nothing of it", "passed"],
        ["fails for what it left running", "failed"],
      ],
      expect.stringContaining("nobody waits for this"),
    ]);
  },
);

const ORDER = `
  const Sequencer = require(${JSON.stringify(join(root, "node_modules/@jest/test-sequencer"))}).default;
  module.exports = class extends Sequencer {
    sort(tests) { return [...tests].sort((one, other) => (one.path < other.path ? -1 : 1)); }
  };
`;
