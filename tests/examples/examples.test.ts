import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { tsChild } from "../support/children/child-command";
import { describeAtFullSize } from "../support/servers/servers";

async function output(example: string): Promise<string[]> {
  const { file, args } = tsChild(join(__dirname, "../../examples", example));
  const { stdout, stderr } = await promisify(execFile)(file, [...args]);
  expect(stderr).toBe("");
  return stdout.trimEnd().split("\n");
}

jest.setTimeout(60_000);

describeAtFullSize("the examples", () => {
  test("embedded.ts captures over HTTP what it has authorized in its process, once", async () => {
    expect(await output("embedded.ts")).toEqual(["captured 1250, asked again: the same answer"]);
  });

  test("one-at-a-time.ts loses no deposit, deadlocks no transfer and says who is inside", async () => {
    expect(await output("one-at-a-time.ts")).toEqual([
      "ten deposits of 10: 100",
      "after two transfers: 80 and 20",
      "refused while audit is inside: lock_timeout",
    ]);
  });
});
