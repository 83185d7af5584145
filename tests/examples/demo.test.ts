import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { Picture } from "../../examples/demo/picture";
import { tsChild } from "../support/children/child-command";
import { startedProgram } from "../support/program/built-program";
import { describeWithPseudoTerminal, describeAtFullSize, testAtFullSize } from "../support/servers/servers";

jest.setTimeout(120_000);

const ESCAPE = "\u001b";
const CLEARED = `\r${ESCAPE}[2K`;

/** With one key; as many more come with a key each. */
const CALLERS = 200;
const REQUESTS = 2 * CALLERS;
/** What one round of the demo says at last. */
const MOVED_ONCE = /the gateway moved money 1 time/g;

async function demo(): Promise<readonly [string, ...string[]]> {
  const { file, args } = tsChild(join(__dirname, "../../examples/demo.ts"));
  return [file, ...args, await startedProgram(), String(CALLERS)];
}

testAtFullSize(
  "the demo, written to a file, is two tables without colours, and money has moved once in each round",
  async () => {
    const [file, ...args] = await demo();
    const { stdout, stderr } = await promisify(execFile)(file, args, {
      env: { ...process.env, FORCE_COLOR: "1" },
    });
    expect(stderr).toBe("");
    expect(stdout).not.toContain(ESCAPE);
    expect(stdout).not.toContain("\r");
    expect(stdout.match(MOVED_ONCE)).toHaveLength(2);
    expect(stdout).toMatch(new RegExp(` {2}answer +${CALLERS} with one key +${CALLERS} with a key each\\n`));
    // Every request has an answer, in one row or another.
    const rows = [...stdout.matchAll(/^ {2}\d{3} \w+ +([\d–]+) +([\d–]+)$/gm)];
    const sums = [1, 2].map((column) => rows.reduce((sum, row) => sum + (Number(row[column]) || 0), 0));
    expect(sums).toEqual([REQUESTS, REQUESTS]);
  },
);

describeAtFullSize("the demo", () => {
  describeWithPseudoTerminal("in a terminal", (start) => {
    const shown = async (before: string): Promise<string> => {
      const command = (await demo()).map((word) => `'${word}'`).join(" ");
      const terminal = start(`${before}; exec ${command}`, __dirname);
      const { status, shown: text } = await terminal.ended;
      expect(status).toBe(0);
      expect(text.match(MOVED_ONCE)).toHaveLength(2);
      return text;
    };

    const expectProgress = (text: string): void => {
      expect(text).toMatch(new RegExp(`\\r {2}█+.*░.* \\d+ of ${REQUESTS} answered`));
      expect(text.split(`${REQUESTS} of ${REQUESTS} answered${CLEARED}`)).toHaveLength(3);
    };

    // That what shows progress has colours, unless it is told otherwise, is seen below.
    test("shows its verdict in green", async () => {
      const text = await shown("stty cols 100");
      expectProgress(text);
      expect(text).toContain(`${ESCAPE}[32m✔`);
    });

    test("shows its progress, which is gone afterwards, and has no colours where NO_COLOR says so", async () => {
      const text = await shown("export NO_COLOR=1; stty cols 100");
      expectProgress(text);
      expect(text.replaceAll(CLEARED, "")).not.toContain(ESCAPE);
    });
  });
});

describe("a picture of the demo", () => {
  const drawn = (
    environment: Record<string, string>,
    screen: { isTTY?: boolean; columns?: number } = { isTTY: true, columns: 100 },
  ): string => {
    let text = "";
    const picture = new Picture({ ...screen, write: (part) => (text += part) }, environment);
    picture.progress(1, 2, "of 2");
    picture.verdict(false, "twice");
    return text;
  };

  test("is drawn for what can show it", () => {
    expect(drawn({})).toBe(
      `\r  ${"█".repeat(20)}${ESCAPE}[2m${"░".repeat(20)}${ESCAPE}[0m 1 of 2  ${ESCAPE}[31m✘ twice${ESCAPE}[0m\n`,
    );
    expect(drawn({ NO_COLOR: "1" })).toBe(`\r  ${"█".repeat(20)}${"░".repeat(20)} 1 of 2  ✘ twice\n`);
    // Set, and empty: as if it were not set.
    expect(drawn({ NO_COLOR: "" })).toContain(`${ESCAPE}[31m`);
    expect(drawn({ TERM: "dumb" })).toBe("  ✘ twice\n");
    expect(drawn({}, {})).toBe("  ✘ twice\n");
  });

  test.each([0, 1, 10, 16, 20])("fits into a terminal of %i columns, as far as its words do", (columns) => {
    const [line = ""] = drawn({ NO_COLOR: "1" }, { isTTY: true, columns }).split("  ✘");
    expect(line.length - 1).toBeLessThanOrEqual(Math.max(columns, "   1 of 2".length));
  });
});
