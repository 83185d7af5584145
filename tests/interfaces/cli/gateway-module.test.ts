import { execFile } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { typescriptChild } from "../../support/children/typescript-child";
import { eventually, HoldfastCli } from "../../support/program/holdfast-cli";
import type { Ended } from "../../support/program/running-program";
import { size } from "../../support/test-size";

jest.setTimeout(60_000);
const holdfast = new HoldfastCli({ serversAlone: true });

const write = (name: string, text: string): string => {
  writeFileSync(join(holdfast.folder, name), text);
  return `module:${name}`;
};

/** A gateway that authorizes and captures whatever comes, as the text of its methods. */
const METHODS = `
  has: ["moves once", "is honest about silence", "can be found again"],
  remembersKeysForMs: 86_400_000,
  authorize: async ({ gatewayKey }) => ({ outcome: "succeeded", reference: "a-" + gatewayKey }),
  capture: async ({ gatewayKey }) => ({ outcome: "succeeded", reference: "c-" + gatewayKey }),
  void: async () => ({ outcome: "declined", reason: "never" }),
  refund: async () => ({ outcome: "declined", reason: "never" }),
  find: async () => ({ outcome: "absent" }),
`;
const SECRET = "sk-live-never-shown";
const withSecret = { HOLDFAST_GATEWAY_OPTION_API_KEY: SECRET };

interface Captured {
  readonly payment: { readonly id: string; readonly status: string };
  readonly capture: { readonly status: string };
}

async function capture(url: string, key: string): Promise<Captured> {
  const post = async (path: string, body: object) => {
    const answer = await fetch(url + path, {
      method: "POST",
      headers: { "content-type": "application/json", "idempotency-key": `${path}-${key}` },
      body: JSON.stringify(body),
    });
    return (await answer.json()) as Captured;
  };
  const { payment } = await post("/payments", { amount: 500, currency: "EUR", paymentMethod: "card" });
  return post(`/payments/${payment.id}/capture`, {});
}

/** What becomes of a capture through each module. How one is loaded and called is the same whoever serves. */
const captureThrough = size(throughServers, inOneProcess);

async function throughServers(files: readonly string[]): Promise<string[]> {
  const outcomes: string[] = [];
  for (const file of files) {
    const server = holdfast.serve("--gateway", `module:${file}`, "--store", "memory:");
    outcomes.push((await capture(await server.url(), "one")).capture.status);
    await server.end("SIGTERM");
  }
  return outcomes;
}

async function inOneProcess(files: readonly string[]): Promise<string[]> {
  const child = typescriptChild("gateways/capture-through-modules.ts", ...files);
  const { stdout } = await promisify(execFile)(child.file, child.args);
  return JSON.parse(stdout) as string[];
}

describe("a gateway of a module", () => {
  test("a gateway of a module moves money as an ES module, one that waits, a CommonJS module, one that was compiled, and a class", async () => {
    const asClass = METHODS.replaceAll(
      /(\w+): async (\([^)]*\)) => (\(.*\)),\n/g,
      "async $1$2 { this.#answers += 1; return $3; }\n",
    )
      .replace(/has: (.*\]),/, "has = $1;")
      .replace("remembersKeysForMs: 86_400_000,", "remembersKeysForMs = 86_400_000;");
    const texts: Readonly<Record<string, string>> = {
      "own.mjs": `export default async () => ({${METHODS}});`,
      "waits.mjs": `await new Promise((resolve) => setTimeout(resolve, 20)); export default () => ({${METHODS}});`,
      "own.cjs": `module.exports = () => ({${METHODS}});`,
      "compiled.cjs": `Object.defineProperty(exports, "__esModule", { value: true }); exports.default = () => ({${METHODS}});`,
      "class.mjs": `class Own { #answers = 0; ${asClass} } export default () => new Own();`,
    };
    for (const [name, text] of Object.entries(texts)) write(name, text);
    const files = Object.keys(texts).map((name) => join(holdfast.folder, name));
    expect(await captureThrough(files)).toEqual(files.map(() => "succeeded"));
  });

  test("a gateway of a module is given its options, from the environment before the file, and closed at the end", async () => {
    const gateway = write(
      "own.mjs",
      `import { writeFileSync } from "node:fs";
       export default (options) => ({${METHODS}
         close() { writeFileSync("closed.json", JSON.stringify(options)); } });`,
    );
    writeFileSync(
      join(holdfast.folder, "holdfast.toml"),
      `gateway = "${gateway}"\n[gateway-options]\nbank_url = "http://file"\napi_key = "from the file"\nretries = 3\n`,
    );
    const server = holdfast.start(["serve", "--port", "0", "--shutdown-delay", "0"], withSecret);
    await server.url();
    const { status, stderr } = await server.end("SIGTERM");
    expect(status).toBe(0);
    const closed = join(holdfast.folder, "closed.json");
    expect(JSON.parse(readFileSync(closed, "utf8"))).toEqual({
      api_key: SECRET,
      bank_url: "http://file",
      retries: "3",
    });
    expect(stderr).not.toContain(SECRET);
    const shown = await holdfast.run(["config"], withSecret);
    expect(shown.stdout).toMatch(/gateway-option\.api_key +\*\*\* +\(HOLDFAST_GATEWAY_OPTION_API_KEY\)/);
    expect(shown.stdout).toMatch(
      /gateway-option\.bank_url +\*\*\* +\(\[gateway-options\] bank_url in holdfast\.toml\)/,
    );
    expect(shown.stdout).not.toContain(SECRET);
  });

  test("a gateway of a module serves the other commands that move money, too", async () => {
    const gateway = write("own.mjs", `export default () => ({${METHODS}});`);
    expect((await holdfast.run(["keys", "create", "--merchant", "acme"])).status).toBe(0);
    for (const command of ["reconcile", "expire"]) {
      expect(await holdfast.run([command, "--gateway", gateway])).toMatchObject({ status: 0 });
      const refused = await holdfast.run([command, "--gateway", "module:gone.mjs"]);
      expect(refused).toMatchObject({ status: 78, stderr: expect.stringContaining("there is no file") });
    }
  });

  const whole = (change: string) => `export default () => ({${METHODS} ${change} });`;
  const serveOwn = ["serve", "--port", "0", "--gateway", "module:./own.mjs"];

  function expectRefusal({ status, stdout, stderr }: Ended, reason: RegExp): void {
    expect({ status, stdout }).toEqual({ status: 78, stdout: "" });
    expect(stderr).toMatch(/^holdfast: --gateway is module:\S+, which is no gateway: /);
    expect(stderr).toMatch(reason);
    expect(stderr).not.toContain(SECRET);
  }

  test.each([
    ["is not there", null, /there is no file .*\/own\.mjs$/],
    ["does not parse", "export default (", /it cannot be loaded: SyntaxError/],
    ["throws when it is loaded", 'throw new Error("no luck");', /it cannot be loaded: Error: no luck$/],
    [
      "has no default export",
      "export const openGateway = () => {};",
      /it has no default export: export default/,
    ],
    ["exports a word", 'export default "stripe";', /its default export is a string, not a function/],
    [
      "exports a gateway itself",
      `export default {${METHODS}};`,
      /its default export is an object, not a function/,
    ],
    [
      "does not open",
      'export default ({ api_key }) => { throw new Error("401 for " + api_key); };',
      /openGateway failed: Error: 401 for \*\*\*$/,
    ],
    ["opens nothing", "export default async () => {};", /openGateway returned undefined, not a gateway$/],
    [
      "lacks methods and says not what it can do",
      "export default () => ({ capture() {} });",
      /"has" is undefined: list .*; the method authorize is missing; the method void is missing; the method refund is missing; remembersKeysForMs is undefined/,
    ],
    [
      "has a layer that there is not",
      whole('has: ["moves once", "is honest about silence", "reads minds"],'),
      /"has" names "reads minds", and the layers are "moves once", "is honest about silence", "can be found again", "answers later", "shows its picture"$/,
    ],
    [
      "lacks a layer that it needs",
      whole('has: ["is honest about silence"],'),
      /"has" lacks "moves once", without which no money can be moved through it/,
    ],
    [
      "says that it can be found again and has no find",
      whole("find: undefined,"),
      /is no gateway: the method find is missing$/,
    ],
    [
      "remembers its keys for ever",
      whole("remembersKeysForMs: Infinity,"),
      /remembersKeysForMs is Infinity: it has/,
    ],
    ["never decides", whole("decidesWithinMs: Infinity,"), /decidesWithinMs is Infinity: it has/],
    [
      "names an option's value among its layers",
      `export default ({ api_key }) => ({${METHODS} has: ["moves once", "is honest about silence", api_key] });`,
      /"has" names "\*\*\*", and the layers are/,
    ],
    [
      "throws while it is looked at",
      `export default ({ api_key }) => ({${METHODS} get has() { throw new Error("no " + api_key); } });`,
      /what openGateway returned cannot be looked at: Error: no \*\*\*$/,
    ],
    [
      "remembers its keys for a part of a millisecond",
      whole("remembersKeysForMs: 1.5,"),
      /remembersKeysForMs is 1\.5: it has to be the whole milliseconds/,
    ],
    ["has something else for close", whole('close: "later",'), /close is a string, not a method$/],
  ])("a module that %s is refused at start with 78 and its reason", async (_, text, reason) => {
    if (text !== null) write("own.mjs", text);
    expectRefusal(await holdfast.run(serveOwn, withSecret), reason);
  });

  test.each([
    ["while it is loaded", "process.exit(0);"],
    [
      "while it is opened, and not at once",
      "export default () => new Promise(() => setTimeout(() => process.exit(), 20));",
    ],
  ])("a module that ends the program %s is refused at start with 78 and its reason", async (_, text) => {
    write("own.mjs", text);
    const refused = await holdfast.start(serveOwn, withSecret).ended;
    expectRefusal(refused, /it ended the program while it was opened, with status 0$/);
  });

  test("a module that ends the program while it is opened is told of in JSON where that is wanted", async () => {
    const gateway = write("own.mjs", "process.exit(0);");
    const { status, stderr } = await holdfast.start(["serve", "--port", "0", "--gateway", gateway, "--json"])
      .ended;
    expect(status).toBe(78);
    expect(JSON.parse(stderr)).toMatchObject({
      error: { message: expect.stringContaining("it ended the program while it was opened") },
    });
  });

  test("a module in TypeScript that cannot be loaded is refused with what to do about it", async () => {
    const gateway = write("own.ts", "export enum Never { runs }; export default (: any) => {};");
    const { status, stderr } = await holdfast.run(["serve", "--port", "0", "--gateway", gateway]);
    expect(status).toBe(78);
    expect(stderr).toContain("it is TypeScript: compile it, and name the JavaScript that comes of it");
  });

  const refused = (gateway: string) => holdfast.run(["serve", "--port", "0", "--gateway", gateway]);

  test("a module that is named by a URL is refused with how to name it", async () => {
    expect(await refused("module:file:///opt/own.mjs")).toMatchObject({
      status: 64,
      stderr: expect.stringContaining("names a URL: write module:<path>, without file://"),
    });
  });

  test("a module that is a folder, or nothing, is refused", async () => {
    expect(await refused("module:.")).toMatchObject({
      status: 78,
      stderr: expect.stringMatching(/ is no file$/),
    });
    expect(await refused(`module:${"x".repeat(300)}`)).toMatchObject({
      status: 78,
      stderr: expect.stringContaining("it cannot be read: Error: ENAMETOOLONG"),
    });
    expect(await refused("module:")).toMatchObject({
      status: 64,
      stderr: expect.stringContaining("names no path: write module:<path>"),
    });
  });

  test("a module that cannot be asked is not needed for what it lacks: an unknown capture is sent again under its key", async () => {
    const gateway = write(
      "own.mjs",
      `let sent = 0;
       export default () => ({${METHODS}
         has: ["moves once", "is honest about silence"],
         find: undefined,
         capture: async ({ gatewayKey }) => {
           sent += 1;
           return sent === 1 ? { outcome: "surely" } : { outcome: "succeeded", reference: "c-" + gatewayKey };
         } });`,
    );
    const url = await holdfast.serve("--gateway", gateway).url();
    const { capture: captured, payment } = await capture(url, "one");
    expect(captured.status).toBe("unknown");
    const show = async () =>
      (await (await fetch(`${url}/payments/${payment.id}`)).json()) as Pick<Captured, "payment">;
    await eventually(show, (shown) => shown.payment.status === "captured");
  });
});
