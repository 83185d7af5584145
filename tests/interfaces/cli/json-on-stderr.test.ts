import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { eventually, HoldfastCli, untilEnded } from "../../support/program/holdfast-cli";

jest.setTimeout(60_000);
const holdfast = new HoldfastCli();
const NO_PAYMENT = "00000000-0000-7000-8000-000000000000";

interface Line {
  readonly error?: { readonly code: string; readonly message: string } & Readonly<Record<string, unknown>>;
  readonly note?: { readonly message: string } & Readonly<Record<string, unknown>>;
}

/** Every line has to be JSON by itself. */
const linesOf = (stderr: string): Line[] => stderr.split("\n").map((line) => JSON.parse(line) as Line);

describe("With --json, one object on stderr says what was typed wrongly", () => {
  test.each([
    ["an unknown command", ["charge", "--json"], "unknown command 'charge'"],
    ["an unknown flag", ["serve", "--json", "--fast"], /^unknown option '--fast'/],
    ["a word too many", ["config", "please", "--json"], /^too many arguments/],
    ["a flag without its value", ["serve", "--port", "--json"], /--port/],
    ["a value that is missing before --json was read", ["--json", "serve", "--port"], /--port <number>/],
    ["a required flag that is missing", ["keys", "create", "--json"], /--merchant <name>/],
    ["a required argument that is missing", ["keys", "revoke", "--json"], /missing required argument 'id'/],
    ["a choice that does not exist", ["run", "a", "--json", "--on-lost", "cry", "--", "true"], /'cry'/],
    ["a group of commands without a command", ["keys", "--json"], /name a command/],
    ["no command at all", ["--json"], /name a command/],
    ["an amount that is none", ["payments", "capture", NO_PAYMENT, "--amount", "x", "--json"], /--amount x/],
  ])("with --json the error is one line of JSON for %s", async (_what, args, message) => {
    const { status, stdout, stderr } = await holdfast.run(args);
    expect({ status, stdout }).toEqual({ status: 64, stdout: "" });
    expect(linesOf(stderr)).toEqual([{ error: { code: "usage", message: expect.anything() as unknown } }]);
    const [line] = linesOf(stderr);
    if (typeof message === "string") expect(line!.error!.message).toBe(message);
    else expect(line!.error!.message).toMatch(message);
  });

  test("The word --json among the words of a command that run starts is that command's own", async () => {
    const { status, stderr } = await holdfast.run(["run", "a", "--nonsense", "--", "true", "--json"]);
    expect(status).toBe(64);
    expect(stderr).toMatch(/^holdfast: unknown option '--nonsense'/);
  });
});

describe("With --json, run reports a command that it cannot start", () => {
  test.each([
    ["127 for a command that does not exist", "./missing", 127, "command_not_found"],
    ["126 for a file that cannot be executed", "./data", 126, "command_not_executable"],
  ])("with --json holdfast run exits with %s", async (_what, command, status, code) => {
    if (status === 126) await holdfast.run(["keys", "create", "--merchant", "acme"]);
    const ended = await holdfast.run(["run", "a", "--json", "--", command]);
    expect(ended).toMatchObject({ status, stdout: "" });
    expect(linesOf(ended.stderr)).toEqual([
      { error: { code, message: expect.stringContaining(`cannot start ${command}`) as string } },
    ]);
  });
});

describe("With --json, locks break reports why it took no lock away", () => {
  const locks = ["--locks", "file:locks?mode=exclusive-create"];

  test("A lock that is not held is reported with its id and the outcome", async () => {
    const { status, stdout, stderr } = await holdfast.run([
      ...["locks", "break", "task:a", "--if-held-by", "x", "--json", ...locks],
    ]);
    expect({ status, stdout }).toEqual({ status: 1, stdout: "" });
    expect(linesOf(stderr)).toEqual([
      {
        error: {
          code: "refused",
          outcome: "not_held",
          resourceId: "task:a",
          message: expect.any(String) as string,
        },
      },
    ]);
  });

  test("A lock that another owner holds is reported with its holder", async () => {
    const holder = holdfast.start(["run", "a", ...locks, "--", ...untilEnded]);
    await holder.said(/^running/);
    // The command may speak before its wrapper has written down who it is.
    const { status, stderr } = await eventually(
      () => holdfast.run(["locks", "break", "task:a", "--if-held-by", "x", "--json", ...locks]),
      (ended) => !ended.stderr.includes('"busy"'),
    );
    expect(status).toBe(1);
    expect(linesOf(stderr)).toEqual([
      {
        error: expect.objectContaining({
          code: "refused",
          outcome: "held_by_another",
          resourceId: "task:a",
          holder: expect.objectContaining({ pid: holder.pid }) as object,
        }) as object,
      },
    ]);
  });
});

describe("With --json, remarks on stderr are objects, too", () => {
  test("A payment command notes its key before it fails, and again with the advice", async () => {
    const url = "http://127.0.0.1:9";
    const { status, stderr } = await holdfast.run([
      ...["payments", "void", NO_PAYMENT, "--url", url, "--json"],
    ]);
    expect(status).toBe(69);
    const [key, advice, failure, ...more] = linesOf(stderr);
    const { idempotencyKey } = key!.note!;
    expect(key!.note!.message).toBe(`idempotency key ${String(idempotencyKey)}`);
    expect(advice!.note).toMatchObject({ idempotencyKey });
    expect(failure!.error!.code).toBe("service_unavailable");
    expect(more).toEqual([]);
  });

  test("A command that waits for a lock says so in objects, and --quiet keeps them back", async () => {
    const holder = holdfast.start(["run", "a", "--", ...untilEnded]);
    await holder.said(/^running/);
    const waiting = ["run", "a", "--json", "--lock-timeout", "1", "--", "true"];
    const { status, stderr } = await holdfast.run(waiting);
    expect(status).toBe(75);
    const [note, failure] = linesOf(stderr);
    expect(note!.note!.message).toMatch(/^waiting for task:a, held by pid/);
    expect(failure!.error!.code).toBe("lock_timeout");
    const quiet = await holdfast.run([...waiting.slice(0, 3), "--quiet", ...waiting.slice(3)]);
    expect(linesOf(quiet.stderr).map((line) => Object.keys(line))).toEqual([["error"]]);
  });

  test("A server notes where it listens", async () => {
    const serve = holdfast.serve(
      "--json",
      "--log-level",
      "silent",
      "--store",
      "memory:",
      "--sandbox-limit",
      "0",
    );
    await serve.url();
    const { stderr } = await serve.end("SIGTERM");
    expect(linesOf(stderr)[0]!.note!.message).toMatch(/^listening on http:/);
  });
});

describe("A key that a payment command makes up", () => {
  test("A key that a payment command makes up is printed before anything is sent, also with --quiet", async () => {
    const silent = createServer(() => {});
    silent.listen(0, "127.0.0.1");
    await once(silent, "listening");
    const url = `http://127.0.0.1:${(silent.address() as AddressInfo).port}`;
    const sent = once(silent, "request");
    const command = holdfast.start(["payments", "void", NO_PAYMENT, "--quiet", "--url", url]);
    const [request] = (await sent) as [{ headers: Record<string, string> }];
    const { stderr } = await command.end("SIGKILL");
    silent.closeAllConnections();
    silent.close();
    expect(stderr).toBe(`holdfast: idempotency key ${request.headers["idempotency-key"]}`);
  });

  test("A key that a payment command makes up is not printed with --quiet where the caller has brought one", async () => {
    const args = ["payments", "void", NO_PAYMENT, "--quiet", "--url", "http://127.0.0.1:9"];
    const { stderr } = await holdfast.run([...args, "--idempotency-key", "mine"]);
    expect(stderr).not.toContain("idempotency key mine");
    expect(stderr).toContain("--idempotency-key mine");
  });
});

describe("A SQLite store that does not exist", () => {
  test.each([
    ["keys list", ["keys", "list"]],
    ["keys revoke", ["keys", "revoke", NO_PAYMENT]],
    ["migrate", ["migrate"]],
    ["reconcile", ["reconcile"]],
    ["expire", ["expire"]],
  ])("a store that does not exist is refused by %s with 69, and nothing is made", async (_what, args) => {
    const path = join("mistyped", "holdfast.db");
    const { status, stdout, stderr } = await holdfast.run([...args, "--store", `sqlite:${path}`]);
    expect({ status, stdout }).toEqual({ status: 69, stdout: "" });
    expect(stderr).toContain(`there is no store at ${join(holdfast.folder, path)} (--store)`);
    expect(holdfast.files()).toEqual([]);
  });

  test("A SQLite store that does not exist is made by keys create, and used by the commands after it", async () => {
    expect(await holdfast.run(["keys", "create", "--merchant", "acme"])).toMatchObject({ status: 0 });
    for (const args of [["keys", "list"], ["migrate"], ["reconcile"], ["expire"]])
      expect(await holdfast.run(args)).toMatchObject({ status: 0 });
  });
});
