import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { HoldfastCli } from "../../support/program/holdfast-cli";

jest.setTimeout(60_000);
const holdfast = new HoldfastCli();
const place = (name: string): string => join(holdfast.folder, name);
const LOCK = "locks/task.nightly.lock";

describe.each(["file:locks", "file:locks?mode=exclusive-create"])("with --locks %s", (url) => {
  const run = (...more: string[]) => holdfast.run(["run", "nightly", "--locks", url, ...more, "--", "true"]);
  const list = () => holdfast.run(["locks", "list", "--locks", url]);

  test("a pipe in place of the lock's file is named, ends with 69, and hangs nothing", async () => {
    expect((await run()).status).toBe(0);
    if (url.includes("?")) writeFileSync(place(LOCK), "");
    execFileSync("sh", ["-c", `rm '${place(LOCK)}' && mkfifo '${place(LOCK)}'`]);
    // However long one would wait: waiting does not help.
    const { status, stderr } = await run("--lock-timeout", "600");
    expect(stderr).toContain(`${place(LOCK)} is a pipe`);
    expect(stderr).not.toContain("held by");
    expect(status).toBe(69);

    expect(await list()).toMatchObject({
      status: 0,
      stdout: expect.stringMatching(/^task:nightly +unknown /m) as string,
    });
    const shown = await holdfast.run(["locks", "show", "task:nightly", "--locks", url]);
    expect(shown.stdout).toContain(`${place(LOCK)} is a pipe`);
  });

  test("what is not Holdfast's in place of the lock's file is listed as unknown, with the reason", async () => {
    expect((await run()).status).toBe(0);
    writeFileSync(place(LOCK), "junk\n");
    expect((await list()).stdout).toMatch(/^task:nightly +unknown /m);
    const shown = await holdfast.run(["locks", "show", "task:nightly", "--locks", url]);
    expect(shown.stdout).toContain(`${place(LOCK)} was not written by Holdfast`);
  });

  test("what a power failure left is reported in a line of ours, with --json as a note, and the command runs", async () => {
    expect((await run()).status).toBe(0);
    writeFileSync(place(LOCK), Buffer.alloc(20));
    const { status, stderr } = await run();
    expect(stderr).toMatch(/^holdfast: [^\n]*was nothing but zeros[^\n]*$/);
    expect(status).toBe(0);
    writeFileSync(place(LOCK), Buffer.alloc(20));
    expect(JSON.parse((await run("--json")).stderr)).toEqual({
      note: { message: expect.stringContaining("was nothing but zeros") as string },
    });
  });

  test("a directory that others may write to is refused with 69, and what to do", async () => {
    mkdirSync(place("locks"));
    chmodSync(place("locks"), 0o777);
    const { status, stderr } = await run();
    expect(stderr).toContain(`others may write to ${place("locks")}`);
    expect(status).toBe(69);
  });
});

test("the place where locks are when nobody says is made for this user alone, whatever the umask", async () => {
  const command = holdfast.shellWords(["run", "nightly", "--", "true"]);
  execFileSync("sh", ["-c", `umask 0; exec ${command}`], {
    cwd: holdfast.folder,
    env: { ...process.env, HOME: holdfast.folder, XDG_STATE_HOME: "" },
  });
  expect(statSync(place(".local/state/holdfast/locks")).mode & 0o777).toBe(0o700);
});
