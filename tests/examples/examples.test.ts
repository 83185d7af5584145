import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { exampleChild } from "../support/children/example-child";

async function output(example: string): Promise<string[]> {
  const { file, args } = exampleChild(example);
  const { stdout, stderr } = await promisify(execFile)(file, [...args]);
  expect(stderr).toBe("");
  return stdout.trimEnd().split("\n");
}

jest.setTimeout(60_000);

describe("the examples", () => {
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
