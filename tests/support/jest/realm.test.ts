import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const root = join(__dirname, "../../..");

/** Leaves everything behind that a test file can leave, or looks for it. `kept` is a module of the project that counts. */
const leaves = `
  test("leaves much behind", () => {
    expect(require("./kept").count()).toBe(1);
    globalThis.left = "a global";
    globalThis.structuredClone = () => "spoilt";
    process.env.HOLDFAST_LEFT = "a variable";
    process.env.PATH = "/nowhere";
    process.chdir("/");
    jest.spyOn(JSON, "parse").mockReturnValue("spied");
    jest.useFakeTimers();
  });
`;
const looks = (folder: string) => `
  test("finds nothing of it", async () => {
    expect(require("./kept").count()).toBe(1);
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

it("what a test file leaves behind is gone for the next one of its worker, and an error that nobody handles fails its test", () => {
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
  writeFileSync(join(folder, "kept.js"), "let n = 0; exports.count = () => (n += 1);");
  writeFileSync(join(folder, "a.test.js"), leaves);
  writeFileSync(join(folder, "b.test.js"), looks(folder));
  const args = ["-i", "--json", "--testSequencer", join(folder, "order.cjs")];
  const { stdout, stderr } = spawnSync(
    process.execPath,
    [join(root, "node_modules/jest/bin/jest.js"), ...args],
    {
      cwd: folder,
      encoding: "utf8",
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
});

const ORDER = `
  const Sequencer = require(${JSON.stringify(join(root, "node_modules/@jest/test-sequencer"))}).default;
  module.exports = class extends Sequencer {
    sort(tests) { return [...tests].sort((one, other) => (one.path < other.path ? -1 : 1)); }
  };
`;
