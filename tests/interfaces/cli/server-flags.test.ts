import { HoldfastCli } from "../../support/program/holdfast-cli";

jest.setTimeout(60_000);
const holdfast = new HoldfastCli();
const ID = "00000000-0000-7000-8000-000000000000";
const NOWHERE = "http://127.0.0.1:9";

/** Of each command of the help, at least one call; null: it asks a server, or shows what is set. */
const calls: Readonly<Record<string, readonly string[][] | null>> = {
  serve: [["serve", "--port", "0"]],
  health: null,
  run: [["run", "nightly", "--", "true"]],
  payments: null,
  review: null,
  webhooks: null,
  gateway: null,
  audit: null,
  events: null,
  locks: [
    ["locks", "list"],
    ["locks", "show", "task:a"],
    ["locks", "break", "task:a", "--if-held-by", "someone"],
  ],
  keys: [
    ["keys", "create", "--merchant", "acme"],
    ["keys", "list"],
    ["keys", "revoke", ID],
  ],
  merchants: [["merchants", "list"]],
  migrate: [["migrate"]],
  reconcile: [["reconcile"]],
  expire: [["expire"]],
  config: null,
};
const withoutServer = Object.values(calls).flatMap((found) => found ?? []);

describe("--url and --api-key, which name a server,", () => {
  test("are judged for every command there is", async () => {
    const { stdout } = await holdfast.run(["--help"]);
    const [, listed = ""] = stdout.split(/^Commands:$/m);
    const names = [...listed.matchAll(/^ {2}([a-z]+)\b/gm)].map(([, name]) => name);
    expect(names.filter((name) => name !== "help").sort()).toEqual(Object.keys(calls).sort());
  });

  test.each(withoutServer.map((call) => [call.join(" "), call]))("are refused by %s", async (_, call) => {
    for (const [flag, value] of [
      ["--url", NOWHERE],
      ["--api-key", "hf_x"],
    ] as const) {
      const { status, stdout, stderr } = await holdfast.run([flag, value, ...call]);
      expect({ status, stdout, files: holdfast.files() }).toEqual({ status: 64, stdout: "", files: [] });
      expect(stderr).toMatch(
        new RegExp(`^holdfast: ${flag} is for commands that ask a server, and holdfast [a-z ]+ asks none`),
      );
    }
  });

  test("are refused behind the command, too, and as JSON where that is asked for", async () => {
    const { status, stderr } = await holdfast.run([
      ...["keys", "create", "--merchant", "acme", "--url", NOWHERE, "--json"],
    ]);
    expect(status).toBe(64);
    expect(JSON.parse(stderr)).toMatchObject({
      error: {
        code: "usage",
        message: "--url is for commands that ask a server, and holdfast keys create asks none: leave it out",
      },
    });
  });

  test("go through where the environment sets them for all commands", async () => {
    const store = ["--store", `sqlite:${holdfast.folder}/own.db`];
    const env = { HOLDFAST_URL: NOWHERE, HOLDFAST_API_KEY: "hf_x" };
    expect((await holdfast.run(["keys", "create", "--merchant", "acme", ...store], env)).status).toBe(0);
  });

  test("are taken by commands that ask a server, and shown by config", async () => {
    const asked = [["health"], ["payments", "show", ID], ["review", "list"], ["webhooks", "list"], ["audit"]];
    for (const args of asked) {
      const { status, stderr } = await holdfast.run([...args, "--url", NOWHERE, "--api-key", "hf_x"]);
      expect([args, status, stderr]).toEqual([args, 69, expect.stringContaining(`no server at ${NOWHERE}`)]);
    }
    expect((await holdfast.run(["config", "--url", NOWHERE])).stdout).toContain(NOWHERE);
  });
});
