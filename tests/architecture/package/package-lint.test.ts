import { execFileSync } from "node:child_process";
import { packedProgram } from "../../support/program/built-program";
import { describeAtFullSize } from "../../support/servers/servers";
import { projectRoot } from "../planted-project";

jest.setTimeout(180_000);

/** Their own programs: both are written for command lines, and ES modules only. */
const run = (program: string, args: readonly string[]): { status: number; output: string } => {
  try {
    const output = execFileSync(process.execPath, [`${projectRoot}/node_modules/${program}`, ...args], {
      encoding: "utf8",
      env: { ...process.env, NO_COLOR: "1" },
    });
    return { status: 0, output };
  } catch (error) {
    const { status, stdout } = error as { status: number; stdout: string };
    return { status, output: stdout };
  }
};

// What users meet first of all this is in package.test.ts: entries that are required, imported and compiled against.
describeAtFullSize("the package that is published", () => {
  let packed: string;
  beforeAll(async () => {
    packed = await packedProgram();
  });

  test("publint finds nothing in the package", () => {
    expect(run("publint/src/cli.js", ["run", packed, "--strict"])).toEqual({
      status: 0,
      output: expect.stringContaining("All good!") as string,
    });
  });

  test("arethetypeswrong finds nothing in the package", () => {
    const { status, output } = run("@arethetypeswrong/cli/dist/index.js", [
      packed,
      "--no-emoji",
      "--profile",
      "node16",
      "--format",
      "ascii",
    ]);
    expect({ status, problems: status === 0 ? "" : output }).toEqual({ status: 0, problems: "" });
  });
});
