import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import { join } from "node:path";
import { loadSqlite } from "../../../src/infrastructure/persistence/sqlite/sqlite-driver";
import { HoldfastCli } from "../../support/program/holdfast-cli";
import { freePort } from "../../support/servers/own-process";
import { damageTable } from "../../support/worlds/sqlite-surgery";

jest.setTimeout(60_000);
const holdfast = new HoldfastCli();

/** Every line of ours can be told from another program's. */
function expectOurWords(stderr: string): void {
  for (const line of stderr.split("\n")) expect(line).toMatch(/^holdfast: \S/);
}

describe("what cannot be meant ends with 64 and says why", () => {
  test.each([
    ["an unknown command", ["charge"], /unknown command 'charge'/],
    ["an unknown flag", ["serve", "--fast"], /unknown option '--fast'/],
    ["a word too many", ["config", "please"], /too many arguments/],
    ["junk in a flag", ["serve", "--port", "http"], /--port must be a whole number from 0 to 65535/],
    ["an unknown scheme in a flag", ["serve", "--store", "mysql:x"], /--store must be one of/],
    ["a flag that is missing", ["keys", "create"], /--merchant <name>/],
    ["a name that is none", ["keys", "create", "--merchant", "a b"], /--merchant a b: a merchant is/],
    [
      "a key that does not exist",
      ["keys", "revoke", "nothing", "--store", "memory:"],
      /there is no key nothing/,
    ],
  ])("the exit status is 64 for %s", async (_what, args, words) => {
    const { status, stdout, stderr } = await holdfast.run(args);
    expect({ status, stdout }).toEqual({ status: 64, stdout: "" });
    expect(stderr).toMatch(words);
    expectOurWords(stderr);
  });
});

describe("bad configuration ends with 78", () => {
  test("bad configuration ends with 78 and all mistakes are told at once, each with its source", async () => {
    writeFileSync(join(holdfast.folder, "holdfast.toml"), 'colour = "blue"\nport = "many"\n');
    const { status, stdout, stderr } = await holdfast.run(["serve", "--gateway", "cash"], {
      HOLDFAST_STORE: "mysql:x",
      HOLDFAST_LOCK_TIMEOUT: "soon",
    });
    expect({ status, stdout }).toEqual({ status: 78, stdout: "" });
    for (const source of [
      "colour in holdfast.toml",
      "port in holdfast.toml",
      "--gateway",
      "HOLDFAST_STORE",
      "HOLDFAST_LOCK_TIMEOUT",
    ]) {
      expect(stderr).toContain(`holdfast: ${source} `);
    }
    expectOurWords(stderr);
  });

  test.each([
    ["that is not there", "nowhere.toml", "cannot read nowhere.toml: ENOENT"],
    ["that is a folder", ".", "cannot read .: EISDIR"],
    ["with junk in it", "junk", "junk is not valid TOML"],
  ])("as a file of settings does %s, whoever named it", async (_what, path, words) => {
    writeFileSync(join(holdfast.folder, "junk"), "port = = 1\n");
    const ended = [
      await holdfast.run(["config", "--config", path]),
      await holdfast.run(["config"], { HOLDFAST_CONFIG: path }),
    ];
    expect(ended.map(({ status, stdout }) => ({ status, stdout }))).toEqual([
      { status: 78, stdout: "" },
      { status: 78, stdout: "" },
    ]);
    for (const [at, source] of ["--config", "HOLDFAST_CONFIG"].entries())
      expect(ended[at]!.stderr).toContain(`holdfast: ${source} ${words}`);
  });

  test("bad configuration ends with 78 as locks that lock nothing do, unless that is meant", async () => {
    const unlocked = ["serve", "--port", "0", "--locks", "none:"];
    const { status, stderr } = await holdfast.run(unlocked);
    expect(status).toBe(78);
    expect(stderr).toContain("--allow-unlocked");
    await holdfast.start([...unlocked, "--allow-unlocked"]).url();
  });

  test("bad configuration ends with 78 as a server does that everybody could reach without a key", async () => {
    const { status, stderr } = await holdfast.run(["serve", "--port", "0", "--host", "0.0.0.0"]);
    expect(status).toBe(78);
    expect(stderr).toContain("refusing to listen on 0.0.0.0");
    expect(stderr).toContain("holdfast keys create");
    expectOurWords(stderr);
  });

  test("bad configuration ends with 78 as a store does that a newer version has written; it is left as it is", async () => {
    const path = join(holdfast.folder, "holdfast.db");
    const store = ["--store", `sqlite:${path}`];
    await holdfast.run(["keys", "create", "--merchant", "acme", ...store]);
    const { DatabaseSync } = loadSqlite();
    const connection = new DatabaseSync(path);
    connection.exec("INSERT INTO schema_migrations VALUES (1000, 0)");
    connection.close();
    for (const command of ["serve", "migrate", "reconcile"]) {
      const { status, stdout, stderr } = await holdfast.run([command, ...store]);
      expect({ status, stdout }).toEqual({ status: 78, stdout: "" });
      expect(stderr).toContain("1000");
      expectOurWords(stderr);
    }
  });
});

describe("what does not answer ends with 69", () => {
  test("what does not answer ends with 69 as a port does that something else has", async () => {
    const other = createServer();
    await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
    const { port } = other.address() as AddressInfo;
    const { status, stdout, stderr } = await holdfast.run(["serve", "--port", String(port)]);
    await new Promise((resolve) => other.close(resolve));
    expect({ status, stdout }).toEqual({ status: 69, stdout: "" });
    expect(stderr).toContain(`cannot listen on 127.0.0.1:${port}: the port is in use`);
    expectOurWords(stderr);
  });

  test.each([
    ["redis", "Redis is not reached"],
    ["postgres", "ECONNREFUSED"],
  ])("as %s locks of a server do that nobody is there to lend", async (scheme, reason) => {
    const where = `127.0.0.1:${await freePort()}`;
    const locks = `${scheme}://someone:secret@${where}`;
    const args = ["serve", "--port", "0", "--store", "memory:", "--locks", locks];
    const { status, stdout, stderr } = await holdfast.run(args);
    expect({ status, stdout }).toEqual({ status: 69, stdout: "" });
    expect(stderr).toContain(`the locks ${scheme}://someone:***@${where} cannot be used: `);
    expect(stderr).toContain(reason);
    expectOurWords(stderr);
  });

  test.each([
    ["below a file", () => "file/holdfast.db"],
    ["that is a folder", () => "folder"],
    ["that is something else", () => "file"],
  ])("what does not answer ends with 69 as a database does %s", async (_what, path) => {
    writeFileSync(join(holdfast.folder, "file"), "not a database, but long enough to be looked at as one");
    mkdirSync(join(holdfast.folder, "folder"));
    for (const command of ["serve", "migrate", "keys"]) {
      const args = [...(command === "keys" ? ["keys", "list"] : [command]), "--store", `sqlite:${path()}`];
      const { status, stdout, stderr } = await holdfast.run(args);
      expect({ status, stdout }).toEqual({ status: 69, stdout: "" });
      expect(stderr).toContain(join(holdfast.folder, path()));
      expectOurWords(stderr);
    }
  });
});

const SQLITE_HEADER_BYTES = 100;

test("a database that is damaged ends with 69 and is left as it is", async () => {
  await holdfast.run(["keys", "create", "--merchant", "acme"]);
  const path = join(holdfast.folder, "data", "holdfast.db");
  damageTable(path, "schema_migrations");
  const damaged = readFileSync(path);
  const { status, stdout, stderr } = await holdfast.run(["serve", "--port", "0"]);
  expect({ status, stdout }).toEqual({ status: 69, stdout: "" });
  expect(stderr).toContain("malformed");
  expectOurWords(stderr);
  // All but the header, in which SQLite notes that the file was opened.
  const left = readFileSync(path).subarray(SQLITE_HEADER_BYTES);
  expect(left.equals(damaged.subarray(SQLITE_HEADER_BYTES))).toBe(true);
});

test.each([
  [["serve"]],
  [["keys"]],
  [["keys", "create"]],
  [["keys", "list"]],
  [["keys", "revoke"]],
  [["migrate"]],
  [["reconcile"]],
  [["expire"]],
  [["config"]],
])("help on %j goes to stdout, ends with 0 and shows an example", async (command) => {
  const { status, stdout, stderr } = await holdfast.run([...command, "--help"]);
  expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
  expect(stdout).toContain(`$ holdfast ${command.join(" ")}`);
});

test("the version is the package's", async () => {
  const { version } = jest.requireActual<{ version: string }>("../../../package.json");
  expect(await holdfast.run(["--version"])).toMatchObject({ status: 0, stdout: `${version}\n`, stderr: "" });
});
