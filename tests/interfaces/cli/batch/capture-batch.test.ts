import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { AuthorizePayment } from "../../../../src/application/use-cases/authorize-payment";
import { parseIdempotencyKey, parseMerchantId } from "../../../../src/domain/identifiers";
import { money, parseCurrency } from "../../../../src/domain/money";
import { HoldfastCli } from "../../../support/program/holdfast-cli";
import { describeWithPseudoTerminal } from "../../../support/servers/servers";
import { Gate, until } from "../../../support/fakes/gate";
import { HttpWorld } from "../../../support/worlds/http-world";

jest.setTimeout(60_000);
const holdfast = new HoldfastCli();
const FILE = "orders.jsonl";
const FAILED = "orders.failed.jsonl";
const NOBODY = "00000000-0000-7000-8000-000000000000";

let http: HttpWorld;
beforeEach(async () => {
  http = await new HttpWorld().open();
});
afterEach(() => http.close());

const run = (args: readonly string[], stdin?: string) =>
  holdfast.run(["payments", "capture", ...args], { HOLDFAST_URL: http.url }, stdin);
/** Not over HTTP, where each of hundreds of answers would be held against the published document. */
const authorizedMany = (count: number): Promise<string[]> => {
  const { world } = http;
  const authorize = new AuthorizePayment(world.locks, world.context);
  const caller = world.caller({ merchant: parseMerchantId("default") });
  const order = { amount: money(1_000n, parseCurrency("EUR")), paymentMethod: "tok_ok", reference: null };
  return Promise.all(
    Array.from({ length: count }, async (_, n) => {
      const idempotencyKey = parseIdempotencyKey(`order-${n}`);
      const wanted = { ...order, idempotencyKey, metadata: {}, expiresInSeconds: 3_600 };
      return (await authorize.execute(wanted, caller)).payment.facts.id;
    }),
  );
};
const linesOf = (captures: readonly object[]) => captures.map((one) => `${JSON.stringify(one)}\n`).join("");
const write = (captures: readonly object[]) => writeFileSync(join(holdfast.folder, FILE), linesOf(captures));
const written = (file: string) => readFileSync(join(holdfast.folder, file), "utf8");
const timesCaptured = (ids: readonly string[]) => Promise.all(ids.map((id) => http.timesCaptured(id)));
const requests = () => http.accessLog.filter(({ path }) => path === "/captures");

test("all payments of a file are captured, in requests of five hundred at the most", async () => {
  const ids = await authorizedMany(520);
  write(ids.map((paymentId, n) => ({ paymentId, ...(n === 0 ? { amount: 400, currency: "eur" } : {}) })));

  expect(await run(["--batch", FILE])).toMatchObject({
    status: 0,
    stdout: "captured 520 of 520\n",
    stderr: "",
  });

  expect(await timesCaptured(ids)).toEqual(ids.map(() => 1));
  expect(requests().map(({ results }) => results)).toEqual([{ 201: 500 }, { 201: 20 }]);
  expect((await http.get(`/payments/${ids[0]!}`)).body.payment.amountCaptured).toBe(400);
  expect(existsSync(join(holdfast.folder, FAILED))).toBe(false);
});

test("a batch that was killed in the middle is finished by the same command, and no payment is captured twice", async () => {
  const ids = await authorizedMany(600);
  write(ids.map((paymentId) => ({ paymentId })));
  const gate = new Gate();
  let arrived = 0;
  for (let n = 0; n < 550; n += 1)
    http.world.gateway.next("capture", async (real) => {
      arrived += 1;
      if (arrived > 520) await gate.passed;
      return real();
    });
  const killed = holdfast.start(["payments", "capture", "--batch", FILE], { HOLDFAST_URL: http.url });
  await until(() => arrived > 520);
  await killed.end("SIGKILL");
  gate.open();

  const again = await run(["--batch", FILE, "--json"]);

  expect(again.status).toBe(0);
  const told = JSON.parse(again.stdout) as { captured: number; replayed: number };
  expect(told).toMatchObject({ captures: 600, captured: 600, refused: 0, notNow: 0, failedFile: null });
  expect(told.replayed).toBeGreaterThanOrEqual(500);
  expect(await timesCaptured(ids)).toEqual(ids.map(() => 1));
  expect(http.world.gateway.calls.filter((call) => call === "capture")).toHaveLength(600);
});

test("what was not captured is told, and written to a file that can be run in turn", async () => {
  const [fine] = await authorizedMany(1);
  const [declined, silent] = [
    await http.authorize({ paymentMethod: "tok_capture_decline" }),
    await http.authorize({ paymentMethod: "tok_timeout_captured" }),
  ];
  write([
    { paymentId: fine },
    { paymentId: declined },
    { paymentId: silent },
    { paymentId: NOBODY, amount: 5 },
  ]);

  const { status, stdout, stderr } = await run(["--batch", FILE]);

  expect(status).toBe(75);
  expect(stdout).toBe("captured 1 of 4\n  1 capture_declined\n  1 outcome_unknown\n  1 payment_not_found\n");
  expect(stderr).toBe(
    `holdfast: 3 were not captured: see ${FAILED}; 1 of them may succeed later: repeat the command with --batch ${FAILED}`,
  );
  const left = written(FAILED)
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as object);
  expect(left).toEqual([
    {
      ...{ paymentId: declined, idempotencyKey: expect.stringMatching(/^batch-[0-9a-f]{40}$/) },
      failed: { status: 402, code: "capture_declined", detail: expect.any(String) },
    },
    expect.objectContaining({
      paymentId: silent,
      failed: expect.objectContaining({ status: 202, code: "outcome_unknown" }),
    }),
    expect.objectContaining({ paymentId: NOBODY, amount: 5 }),
  ]);

  http.world.clock.advance(2_000);
  const rest = await run(["--batch", FAILED, "--failed", "refused.jsonl", "--json"]);
  expect(rest.status).toBe(1);
  expect(JSON.parse(rest.stdout)).toEqual({
    ...{ captures: 3, captured: 1, replayed: 0, refused: 2, notNow: 0, failedFile: "refused.jsonl" },
    reasons: { capture_declined: 1, payment_not_found: 1 },
  });
  expect(JSON.parse(rest.stderr)).toMatchObject({ error: { code: "refused" } });
  expect(await timesCaptured([fine!, silent])).toEqual([1, 1]);
});

test("what the gateway decides later, and what waits for its customer, is not refused and not unknown", async () => {
  const pending = await http.authorize({ paymentMethod: "tok_capture_processing" });
  const waiting = await http.authorize({
    paymentMethod: "tok_requires_action",
    returnUrl: "https://shop.example/back",
  });
  http.world.clock.advance(2_000);
  write([{ paymentId: pending }, { paymentId: waiting }]);
  const { status, stdout } = await run(["--batch", FILE, "--json"]);
  expect(status).toBe(75);
  expect(JSON.parse(stdout)).toMatchObject({
    ...{ captured: 0, refused: 0, notNow: 2 },
    reasons: { outcome_pending: 1, payment_not_capturable: 1 },
  });
  expect(written(FAILED)).toContain("The gateway has taken the order and decides later.");
});

test("a file of failures from an earlier run does not stay when all was captured", async () => {
  const [id] = await authorizedMany(1);
  write([{ paymentId: id }]);
  writeFileSync(join(holdfast.folder, FAILED), "from before\n");
  expect((await run(["--batch", FILE])).status).toBe(0);
  expect(existsSync(join(holdfast.folder, FAILED))).toBe(false);
});

test("captures for which a request had no time are sent again by the command itself", async () => {
  const [paymentId] = await authorizedMany(1);
  const captured: string[] = [];
  const real = http.world.context.payments.find.bind(http.world.context.payments);
  let isSlow = true;
  const { now } = performance;
  // The time of the first request is over as soon as it has begun its first capture.
  http.world.context.payments.find = async (id) => {
    captured.push(id);
    if (isSlow) performance.now = () => now.call(performance) + 60_000;
    isSlow = false;
    return real(id);
  };
  write([{ paymentId }, { paymentId, idempotencyKey: "later" }]);
  try {
    const answer = run(["--batch", FILE]);
    await until(() => captured.length > 0);
    await until(() => requests().length > 0);
    performance.now = now;
    expect((await answer).stdout).toMatch(/^captured 1 of 2\n {2}1 payment_already_captured/);
  } finally {
    performance.now = now;
  }
  expect(requests().map(({ results }) => results)).toEqual([{ 201: 1, 503: 1 }, { 409: 1 }]);
});

test("stdin is a batch, too, with keys of its own", async () => {
  const ids = await authorizedMany(2);
  const lines = linesOf(ids.map((paymentId, n) => ({ paymentId, idempotencyKey: `order-${n}` })));
  expect(await run(["--batch", "-"], `\n${lines}\n`)).toMatchObject({ status: 0 });
  expect((await http.capture(ids[1]!, "order-1")).headers.get("idempotency-replayed")).toBe("true");
});

test("a file with a wrong line is not sent, and each wrong line is told with its number", async () => {
  const paymentId = await http.authorize();
  const wrong = [
    { paymentId },
    { paymentId: "order-1" },
    { paymentId, amount: 1.5 },
    { paymentId, tip: 1 },
    { paymentId, idempotencyKey: 7 },
    { paymentId, currency: "" },
  ];
  writeFileSync(join(holdfast.folder, FILE), `${linesOf(wrong)}nonsense\n`);
  const { status, stdout, stderr } = await run(["--batch", FILE]);
  expect({ status, stdout }).toEqual({ status: 64, stdout: "" });
  expect(stderr.split("\n").map((line) => line.replace(/^holdfast: /, ""))).toEqual([
    "nothing was sent, because of these lines:",
    "orders.jsonl:2 has no paymentId that is a payment's id",
    "orders.jsonl:3 has an amount that is not a whole number above 0",
    'orders.jsonl:4 has "tip", which is not recognized',
    "orders.jsonl:5 has an idempotencyKey that is not a text",
    "orders.jsonl:6 has a currency that is not a text",
    expect.stringMatching(/^orders\.jsonl:7 is not a JSON object such as/),
  ]);
  expect(requests()).toEqual([]);
});

test.each([
  ["neither a payment nor a file", [], /give a payment, with its own options, or --batch/],
  ["both", [NOBODY, "--batch", FILE], /give a payment, with its own options, or --batch/],
  ["an amount for all", ["--batch", FILE, "--amount", "5"], /give a payment, with its own options/],
  ["a file for failures of one payment", [NOBODY, "--failed", "x"], /with --failed alone/],
  ["a file that is not there", ["--batch", "nowhere"], /--batch nowhere: cannot be read: ENOENT/],
  ["a file without captures", ["--batch", "/dev/null"], /there are no captures in it/],
])("a capture of %s is refused with 64", async (_what, args, words) => {
  const { status, stdout, stderr } = await run(args);
  expect({ status, stdout }).toEqual({ status: 64, stdout: "" });
  expect(stderr).toMatch(words);
});

test("a server that goes away ends the batch with 69, how far it came, and that the command can be repeated", async () => {
  write([{ paymentId: NOBODY }]);
  const { status, stderr } = await run(["--batch", FILE, "--url", "http://127.0.0.1:9"]);
  expect(status).toBe(69);
  expect(stderr).toContain("0 of 1 were captured before this; repeat the command with the same file");
});

describeWithPseudoTerminal("a batch under a terminal", (start) => {
  test("a bar on a terminal shows how far a batch is, and is erased at its end", async () => {
    const ids = await authorizedMany(502);
    write([...ids.map((paymentId) => ({ paymentId })), { paymentId: NOBODY }]);
    const command = holdfast.shellWords(["payments", "capture", "--batch", FILE, "--url", http.url]);
    const terminal = start(`stty cols 100; exec ${command}`, holdfast.folder);
    const { status, shown } = await terminal.ended;
    expect(status).toBe(1);
    expect(shown).toContain("\r\x1b[2K[------------------------] 0 of 503");
    expect(shown).toContain("\r\x1b[2K[#######################-] 500 of 503");
    expect(shown).toContain("\r\x1b[2K[########################] 503 of 503, 1 not captured\r\x1b[2K");
    expect(shown).toContain("captured 502 of 503\r\n");
  });

  test("there is no bar with --quiet, nor where the output is for programs", async () => {
    const [id] = await authorizedMany(1);
    write([{ paymentId: id }]);
    for (const flag of ["--quiet", "--json"]) {
      const args = ["payments", "capture", "--batch", FILE, "--url", http.url, flag];
      const { shown } = await start(`stty cols 100; exec ${holdfast.shellWords(args)}`, holdfast.folder)
        .ended;
      expect(shown).not.toContain("\x1b");
    }
  });
});
