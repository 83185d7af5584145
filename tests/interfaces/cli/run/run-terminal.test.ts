import { readFileSync } from "node:fs";
import { join } from "node:path";
import { HoldfastCli, untilEnded } from "../../../support/program/holdfast-cli";
import { describeWithPseudoTerminal } from "../../../support/servers/servers";

jest.setTimeout(60_000);
const ERASE = "\r\x1b[2K";
const RUN = ["run", "nightly", "--locks", "file:locks"];

describeWithPseudoTerminal("holdfast run under a terminal", (start) => {
  const holdfast = new HoldfastCli();
  const terminal = (before: string, args: readonly string[], after = "") =>
    start(`${before}; exec ${holdfast.shellWords(args)} ${after}`, holdfast.folder);
  const waiter = [...RUN, "--lock-timeout", "60", "--", "true"];

  async function startHolder() {
    const holder = holdfast.start([...RUN, "--", ...untilEnded]);
    await holder.said(/^running/);
    return holder;
  }

  test("the waiting line is written over in place, and erased when the command's turn has come", async () => {
    const holder = await startHolder();
    const waiting = terminal("stty cols 200", waiter);
    await waiting.shows(/(?:waiting for task:nightly[^\r\n]*left, Ctrl-C to stop\r\x1b\[2K){2}/);
    await holder.end("SIGTERM");
    const { status, shown } = await waiting.ended;
    expect(status).toBe(0);
    expect(shown).toContain(`held by pid ${holder.pid} on `);
    expect(shown).not.toContain("\n");
    expect(shown.endsWith(ERASE)).toBe(true);
  });

  test("Ctrl-C erases the line, says so on a line of its own, and ends with 130", async () => {
    await startHolder();
    const waiting = terminal("stty cols 200", waiter);
    await waiting.shows(/waiting for task:nightly/);
    waiting.type("\x03");
    const { status, shown } = await waiting.ended;
    expect(status).toBe(130);
    expect(shown).toMatch(/\r\x1b\[2Kholdfast: stopped waiting for task:nightly after [\d.]+ s[^\n]*\r\n$/);
  });

  test("without columns, and on a terminal that can do nothing, there are plain lines", async () => {
    await startHolder();
    for (const before of ["stty cols 0", "stty cols 200; export TERM=dumb"]) {
      const waiting = terminal(before, waiter);
      await waiting.shows(/holdfast: waiting for task:nightly[^\n]*\r\n/);
      waiting.type("\x03");
      const { status, shown } = await waiting.ended;
      expect(status).toBe(130);
      expect(shown).not.toContain("\x1b");
    }
  });

  // Whether it stands in the foreground is what counts, not what became of its streams.
  test.each([
    ["", ""],
    [" with its streams somewhere else", "</dev/null >out.log 2>&1"],
  ])("Ctrl-C reaches the command once%s", async (_what, redirection) => {
    const script = `
      const { appendFileSync } = require("node:fs");
      let interrupts = 0;
      const tell = (text) => appendFileSync("told", text + "\\n");
      process.on("SIGINT", () => tell("interrupted " + (interrupts += 1)));
      process.on("SIGTERM", () => { tell("in all " + interrupts); process.exit(0); });
      tell("wrapper " + process.ppid);
      const timer = setInterval(() => { try { process.kill(process.ppid, 0); } catch { process.exit(1); } }, 100);
    `;
    const told = () => {
      try {
        return readFileSync(join(holdfast.folder, "told"), "utf8");
      } catch {
        return "";
      }
    };
    const command = holdfast.shellWords([...RUN, "--", process.execPath, "-e", script]);
    const running = start(`trap : INT; ${command} ${redirection}; exit $?`, holdfast.folder);
    await running.until(() => told().includes("wrapper"));
    const wrapper = Number(/wrapper (\d+)/.exec(told())![1]);
    // The command has handled its own before the wrapper hears of it: two that are pending at once would be one.
    process.kill(wrapper, "SIGSTOP");
    running.type("\x03");
    await running.until(() => told().includes("interrupted"));
    process.kill(wrapper, "SIGCONT");
    // What the wrapper passes on, it passes on in order: a second interrupt would come before this.
    process.kill(wrapper, "SIGTERM");
    expect((await running.ended).status).toBe(0);
    expect(told()).toContain("in all 1\n");
  });
});
