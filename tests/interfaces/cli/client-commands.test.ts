import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { loseAnswers } from "../../support/fakes/lost-answers";
import { Gate } from "../../support/fakes/gate";
import { HoldfastCli } from "../../support/program/holdfast-cli";
import { HttpWorld } from "../../support/worlds/http-world";

jest.setTimeout(60_000);
const holdfast = new HoldfastCli();
const CARD = ["--amount", "1250", "--currency", "eur", "--payment-method"];
const NOBODY = "00000000-0000-7000-8000-000000000000";

let http: HttpWorld;
beforeEach(async () => {
  http = await new HttpWorld().open();
});
afterEach(() => http.close());

/** Against the server of this test. */
const run = (args: readonly string[], env: NodeJS.ProcessEnv = {}) =>
  holdfast.run(args, { HOLDFAST_URL: http.url, ...env });

async function json(args: readonly string[]): Promise<Record<string, unknown>> {
  const { status, stdout, stderr } = await run([...args, "--json"]);
  expect({ status, args, stderr: status === 0 ? "" : stderr }).toEqual({ status: 0, args, stderr: "" });
  return JSON.parse(stdout) as Record<string, unknown>;
}

async function authorized(token = "tok_ok"): Promise<string> {
  const { payment } = await json(["payments", "authorize", ...CARD, token]);
  return (payment as { id: string }).id;
}

describe("payments", () => {
  test("live from the command line: authorize, capture, refund in parts, show, list", async () => {
    const made = await run(["payments", "authorize", ...CARD, "tok_ok", "--reference", "order-1042"]);
    expect(made.status).toBe(0);
    expect(made.stderr).toMatch(/^holdfast: idempotency key cli-[0-9a-f-]{36}$/);
    const [, id = ""] = /^payment (\S+): authorized, 12\.50 EUR$/m.exec(made.stdout) ?? [];

    const captured = await run(["payments", "capture", id, "--amount", "1000"]);
    expect(captured.stdout).toMatch(/^captured 10\.00 EUR\npayment .*: captured, 12\.50 EUR$/m);
    const refunded = await run(["payments", "refund", id, "--amount", "250", "--currency", "EUR"]);
    expect(refunded.stdout).toMatch(/^refunded 2\.50 EUR\n/);
    const rest = await run(["payments", "refund", id]);
    expect(rest.stdout).toMatch(/^refunded 7\.50 EUR\n/);

    const shown = await run(["payments", "show", id]);
    expect(shown.stdout).toContain("refunded 10.00 EUR");
    expect(shown.stdout).toMatch(
      /capture\.succeeded .*by requestId \S+; lock: waited \d+ ms, token \d+; gateway: capture \S+\.1 answered succeeded/,
    );
    const listed = await run(["payments", "list", "--reference", "order-1042", "--status", "captured"]);
    expect(listed.stdout).toMatch(new RegExp(`^${id} +captured +12\\.50 EUR +order-1042 `, "m"));
    expect(await http.timesCaptured(id)).toBe(1);
  });

  test("payments print where to send the customer who has to confirm them, and end with 0", async () => {
    const back = ["--return-url", "https://shop.example/back"];
    const { status, stdout } = await run(["payments", "authorize", ...CARD, "tok_requires_action", ...back]);
    expect(status).toBe(0);
    const [, id = "", url = ""] =
      /^payment (\S+): requires_action, 12\.50 EUR\n {2}send the customer to (\S+), until \S+$/m.exec(
        stdout,
      ) ?? [];
    expect((await fetch(url)).status).toBe(200);
    expect((await run(["payments", "show", id])).stdout).toContain(`send the customer to ${url}, until `);
    const tooSoon = await run(["payments", "capture", id]);
    expect(tooSoon).toMatchObject({ status: 75, stderr: expect.stringContaining("(authorize_in_progress)") });
    http.world.clock.advance(2_000);
    const capture = await run(["payments", "capture", id]);
    expect(capture.status).toBe(1);
    expect(capture.stderr).toContain("is requires_action");
  });

  test("payments can be voided, and imported", async () => {
    const id = await authorized();
    expect((await run(["payments", "void", id])).stdout).toMatch(/^voided 12\.50 EUR\n/);
    const reference = ["--gateway-reference", "ext_700_eur_browser", "--metadata", "a=1", "b=2=3"];
    const { payment } = await json(["payments", "authorize", ...reference]);
    expect(payment).toMatchObject({ status: "authorized", amount: 700, metadata: { a: "1", b: "2=3" } });
  });

  test("payments are shown to programs as the server sends them, with the key beside", async () => {
    const answer = await json(["payments", "capture", await authorized(), "--idempotency-key", "mine"]);
    expect(answer).toMatchObject({ idempotencyKey: "mine", replayed: false, capture: { amount: 1250 } });
    const { data, nextCursor } = await json(["payments", "list", "--limit", "1"]);
    expect({ data, nextCursor }).toMatchObject({ data: [{ status: "captured" }], nextCursor: null });
    const shown = await json(["payments", "show", (answer["payment"] as { id: string }).id]);
    expect(shown).toMatchObject({ payment: { status: "captured" }, events: expect.any(Array) });
  });

  test("sent again with the key that was printed are answered again, and nothing is done", async () => {
    const id = await authorized();
    const first = await run(["payments", "capture", id]);
    const [, key = ""] = /idempotency key (\S+)/.exec(first.stderr) ?? [];
    const again = await run(["payments", "capture", id, "--idempotency-key", key]);
    expect(again).toMatchObject({ status: 0 });
    expect(again.stdout).toContain("(stored answer: nothing was done now)");
    const other = await run(["payments", "capture", id]);
    expect(other).toMatchObject({ status: 1, stdout: "" });
    expect(other.stderr).toContain("has been captured by another request. (payment_already_captured)");
    expect(await http.timesCaptured(id)).toBe(1);
  });
});

describe("what the gateway has not told", () => {
  test("an outcome that the gateway has not confirmed ends with 75 and the key to ask with again, even when told to be quiet", async () => {
    const id = await authorized("tok_timeout_captured");
    const { status, stdout, stderr } = await run(["payments", "capture", id, "--quiet"]);
    expect(status).toBe(75);
    expect(stdout).toContain("capture of 12.50 EUR: unknown");
    const [, key = ""] = /--idempotency-key (\S+):/.exec(stderr) ?? [];
    http.world.clock.advance(2_000);
    expect(await run(["payments", "capture", id, "--idempotency-key", key])).toMatchObject({ status: 0 });
    expect(await http.timesCaptured(id)).toBe(1);
  });
});

describe("what may be stored", () => {
  test("what may be stored ends with 75 and the key to ask with again; with 69 if certainly nothing was done", async () => {
    const id = await authorized();
    const answers = loseAnswers(http.world);
    const { status, stderr } = await run(["payments", "capture", id, "--idempotency-key", "k"]);
    expect(status).toBe(75);
    expect(stderr).toContain("It is not known whether this request was carried out");
    expect(stderr).toContain("repeat the command with --idempotency-key k: the money still moves only once");
    const without = await run(["payments", "capture", id, "--idempotency-key", "k"]);
    expect(without.status).toBe(69);
    expect(without.stderr).toContain("has changed nothing");
    answers.comeBack();
    expect(await run(["payments", "capture", id, "--idempotency-key", "k"])).toMatchObject({ status: 0 });
    expect(await http.timesCaptured(id)).toBe(1);
  });
});

describe("a lock that somebody has", () => {
  test("a lock that somebody has is waited for as long as --lock-timeout says: 0 ends with 75, infinite leaves it to the server", async () => {
    const id = await authorized();
    const sending = new Gate();
    const answering = new Gate();
    http.world.gateway.next("capture", async (real) => {
      sending.open();
      await answering.passed;
      return real();
    });
    const first = run(["payments", "capture", id, "--idempotency-key", "first"]);
    await sending.passed;
    const impatient = await run(["payments", "capture", id, "--lock-timeout", "0"]);
    expect(impatient.status).toBe(75);
    expect(impatient.stderr).toMatch(
      /Tried once to lock .* The limit of 0 s comes from --lock-timeout; raise it there\. \(lock_timeout\)/,
    );
    expect(impatient.stderr).toMatch(/repeat the command with --idempotency-key cli-/);
    const told = await run(["payments", "capture", id, "--lock-timeout", "0", "--json", "--quiet"]);
    expect(JSON.parse(told.stderr.split("\n").find((line) => line.startsWith('{"error"'))!)).toMatchObject({
      error: { code: "lock_timeout", limit: 0, source: "--lock-timeout", scope: "payment" },
    });
    const same = await run(["payments", "capture", id, "--idempotency-key", "first", "--lock-timeout", "0"]);
    expect(same.status).toBe(75);
    expect(same.stderr).toContain("(idempotency_key_in_use)");
    const patient = run(["payments", "void", id, "--lock-timeout", "infinite"]);
    answering.open();
    expect(await first).toMatchObject({ status: 0 });
    expect(await patient).toMatchObject({ status: 1 });
  });
});

describe("a server that is not there", () => {
  test("a server that is not there ends with 69, who said where it is, and the key to ask with again", async () => {
    const args = ["payments", "void", NOBODY, "--url", "http://127.0.0.1:9"];
    const { status, stdout, stderr } = await run(args);
    expect({ status, stdout }).toEqual({ status: 69, stdout: "" });
    expect(stderr).toMatch(/no server at http:\/\/127\.0\.0\.1:9 \(--url\): .*start one with holdfast serve/);
    expect(stderr).toContain("repeat the command with --idempotency-key");
  });

  test("a server that is not there or is somebody else's, ends with 69", async () => {
    const other: Server = createServer((_request, response) => response.end("<h1>hello</h1>"));
    await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
    const url = `http://127.0.0.1:${(other.address() as AddressInfo).port}`;
    const { status, stderr } = await run(["payments", "list"], { HOLDFAST_URL: url });
    await new Promise((resolve) => other.close(resolve));
    expect(status).toBe(69);
    expect(stderr).toContain("(HOLDFAST_URL): the answer (status 200) is not from a Holdfast server");
  });

  test("a server that is not there or cannot reach the gateway ends with 69", async () => {
    const id = await authorized("tok_unreachable");
    expect(await run(["payments", "capture", id])).toMatchObject({
      status: 69,
      stderr: expect.stringContaining("(gateway_unavailable)"),
    });
  });
});

describe("keys", () => {
  test("keys are shown to the server, and a missing one is asked for by name", async () => {
    http.keys.add("hf_secret", "acme");
    const without = await run(["payments", "list"]);
    expect(without).toMatchObject({ status: 1, stderr: expect.stringContaining("Set HOLDFAST_API_KEY") });
    expect(await run(["payments", "list"], { HOLDFAST_API_KEY: "hf_secret" })).toMatchObject({ status: 0 });
    const review = await run(["review", "list"], { HOLDFAST_API_KEY: "hf_secret" });
    expect(review).toMatchObject({ status: 1, stderr: expect.stringContaining("(operator_key_required)") });
  });
});

describe("what cannot be meant ends with 64, and nothing is sent", () => {
  test.each([
    ["an amount with a point", ["authorize", "--amount", "12.50"], /1250 for 12\.50 EUR/],
    [
      "no amount at all",
      ["authorize", "--currency", "EUR"],
      /give --amount, --currency and --payment-method/,
    ],
    ["what is no id", ["capture", "order-1"], /order-1 is not a payment id/],
    ["metadata without a name", ["authorize", "--metadata", "=x"], /must be name=value/],
    ["a void of a part", ["void", NOBODY, "--amount", "1"], /unknown option '--amount'/],
  ])("a client command refuses %s and sends nothing", async (_what, args, words) => {
    const { status, stdout, stderr } = await run(["payments", ...args]);
    expect({ status, stdout }).toEqual({ status: 64, stdout: "" });
    expect(stderr).toMatch(words);
    expect(http.accessLog).toEqual([]);
  });

  test("what only the server knows to be wrong ends so, too, with each field", async () => {
    const args = ["payments", "authorize", "--amount", "1", "--currency", "XXQ", "--payment-method", "t"];
    const { status, stderr } = await run(args);
    expect(status).toBe(64);
    expect(stderr).toMatch(/\/currency is not an ISO 4217 currency code/);
  });

  test("an unknown payment ends with 1, as JSON if that is asked for", async () => {
    const { status, stderr } = await run(["payments", "show", NOBODY, "--json"]);
    expect(status).toBe(1);
    expect(JSON.parse(stderr)).toMatchObject({
      error: { code: "refused", problem: { code: "payment_not_found", status: 404 } },
    });
  });
});

describe("review", () => {
  async function inReview(): Promise<string> {
    const id = await authorized("tok_timeout_captured");
    await run(["payments", "capture", id, "--idempotency-key", "k"]);
    http.world.clock.advance(2_000);
    http.world.gateway.answersQuestions({ outcome: "mismatch", evidence: "another amount" });
    await run(["payments", "capture", id, "--idempotency-key", "k"]);
    return id;
  }

  test("review lists what waits, takes a verdict with evidence, and the history tells of it", async () => {
    expect((await run(["review", "list"])).stdout).toBe("no operation needs a decision\n");
    const id = await inReview();
    const { data } = await json(["review", "list"]);
    const [waiting] = data as { operationId: string }[];
    const { operationId } = waiting ?? { operationId: "" };
    expect((await run(["review", "list"])).stdout).toMatch(
      new RegExp(`^${operationId} +capture +12\\.50 EUR +unknown .* ${id} +auth_\\S+ +another amount$`, "m"),
    );

    for (const verdict of [[], ["--moved", "--not-moved"], ["--moved", "--still-pending"]]) {
      const refused = await run(["review", "resolve", operationId, ...verdict, "--evidence", "x"]);
      const words = "holdfast: give one of --moved, --not-moved and --still-pending";
      expect(refused).toMatchObject({ status: 64, stderr: words });
    }
    expect(await run(["review", "resolve", operationId, "--moved"])).toMatchObject({ status: 64 });
    const put = await run(["review", "resolve", operationId, "--still-pending", "--evidence", "tomorrow"]);
    expect(put).toMatchObject({
      status: 0,
      stdout: expect.stringContaining(`capture ${operationId}: unknown, needs a decision`),
    });
    http.world.gateway.answersQuestions(null);
    const wrong = ["review", "resolve", operationId, "--not-moved", "--evidence", "nothing there"];
    const contradicted = await run(wrong);
    expect(contradicted).toMatchObject({ status: 1, stdout: "" });
    expect(contradicted.stderr).toMatch(
      /answered succeeded\..* --override\. \(review_contradicts_gateway\)$/,
    );
    const evidence = "the dashboard shows it";
    const done = await run(["review", "resolve", operationId, "--moved", "--evidence", evidence]);
    expect(done).toMatchObject({
      status: 0,
      stdout: expect.stringContaining(`capture ${operationId}: succeeded`),
    });
    const shown = await run(["payments", "show", id]);
    expect(shown.stdout).toMatch(/review\.resolved .*outcome moved, evidence the dashboard shows it/);

    const history = await run(["review", "show", operationId]);
    expect(history.stdout).toMatch(/review\.pending .*outcome pending, evidence tomorrow/);
    expect(history.stdout).toMatch(/review\.resolved .*outcome moved, evidence the dashboard shows it/);
    const again = await run(["review", "resolve", operationId, "--not-moved", "--evidence", "no"]);
    expect(again).toMatchObject({ status: 1, stderr: expect.stringContaining("(operation_not_in_review)") });
  });
});

describe("gateway observe", () => {
  test("gateway observe asks the gateway again, corrects a refund that failed later, and says what waits for a person", async () => {
    const id = await authorized("tok_refund_fails_later_1000");
    await run(["payments", "capture", id]);
    await run(["payments", "refund", id, "--amount", "250"]);
    const agreed = await run(["gateway", "observe", id]);
    expect(agreed).toMatchObject({ status: 0, stderr: "" });
    expect(agreed.stdout).toMatch(/ refund +2\.50 EUR +succeeded +succeeded: refund_\S+ +agrees$/m);
    http.world.clock.advance(1_000);
    const { operations, payment } = await json(["gateway", "observe", id]);
    expect(operations).toMatchObject([{}, {}, { recorded: "succeeded", result: "corrected" }]);
    expect(payment).toMatchObject({ amountRefunded: 0, refunds: [{ status: "failed" }] });
    expect((await run(["payments", "show", id])).stdout).toMatch(
      /refund\.failed .*reason refund_failed, recorded succeeded; by .*answered declined/,
    );
    http.world.gateway.answersQuestions({ outcome: "pending" });
    const doubted = await run(["gateway", "observe", id]);
    expect(doubted).toMatchObject({
      status: 69,
      stderr: expect.stringContaining(
        "the gateway did not show the payment as a whole (it answers about keys only): what others did there",
      ),
    });
    expect(doubted.stdout).toMatch(/ capture .* pending +inconclusive$/m);
  });

  test("gateway observe says that a contradiction waits for a person", async () => {
    const id = await authorized();
    await run(["payments", "capture", id]);
    http.world.gateway.answersQuestions({ outcome: "declined", reason: "never" });
    const doubted = await run(["gateway", "observe", id]);
    expect(doubted).toMatchObject({
      status: 69,
      stdout: expect.stringMatching(/ capture +12\.50 EUR +succeeded +declined: never +in_review$/m),
      stderr: expect.stringMatching(
        /^holdfast: operations that contradict the gateway wait for a decision: see holdfast review list\n/,
      ),
    });
  });

  test("gateway observe shows what others did, and a dispute with the time for an answer", async () => {
    const id = await authorized("tok_captured_elsewhere_0");
    const seen = await run(["gateway", "observe", id]);
    expect(seen.stdout).toMatch(/ capture +12\.50 EUR +succeeded +not asked: made_elsewhere +not_asked$/m);
    expect(seen.stdout).toContain("captured 12.50 EUR");
    const disputed = await authorized("tok_dispute_0");
    await run(["payments", "capture", disputed]);
    await run(["gateway", "observe", disputed]);
    expect((await run(["payments", "show", disputed])).stdout).toMatch(
      /dispute dispute_\S+: needs_response, 12\.50 EUR, fraudulent, evidence until \d{4}-/,
    );
  });

  test("gateway observe refuses what it cannot ask about, in its exit statuses, and explains itself", async () => {
    expect(await run(["gateway", "observe", NOBODY])).toMatchObject({
      status: 1,
      stderr: expect.stringContaining("(payment_not_found)"),
    });
    expect((await run(["gateway", "observe", "nonsense"])).stderr).toContain("(invalid_payment_id)");
    expect(await run(["gateway", "observe"])).toMatchObject({ status: 64 });
    const help = await run(["gateway", "observe", "--help"]);
    expect(help).toMatchObject({ status: 0, stdout: expect.stringContaining("moves no money") });
    const nowhere = await run(["gateway", "observe", NOBODY], { HOLDFAST_URL: "http://127.0.0.1:9" });
    expect(nowhere.status).toBe(69);
  });
});

describe("gateway catch-up", () => {
  test("gateway catch-up at a server whose gateway has no events says so, and not that a route is missing", async () => {
    expect(await run(["gateway", "catch-up", "--since", "2026-03-01T00:00:00Z"])).toMatchObject({
      status: 64,
      stderr:
        "holdfast: the server's gateway keeps no list of events, so there is nothing to catch up with: only stripe: has one",
    });
  });

  test.each([
    ["yesterday", /^holdfast: --since must be a time in ISO 8601 .*, not "yesterday"$/],
    ["2026-03-01", /^holdfast: --since must be a time/],
    ["2026-02-30T00:00:00Z", /^holdfast: --since must be a time/],
    ["2999-01-01T00:00:00Z", /^holdfast: --since is in the future: it is \d{4}-/],
  ])("gateway catch-up --since %s is refused with 64 in the words of the option", async (since, words) => {
    expect(await run(["gateway", "catch-up", "--since", since])).toMatchObject({
      status: 64,
      stdout: "",
      stderr: expect.stringMatching(words),
    });
  });
});

test("review resolve --override stands against what the gateway says, and stays in the history", async () => {
  const made = await json(["payments", "authorize", ...CARD, "tok_timeout_captured"]);
  const { id } = made["payment"] as { id: string };
  await run(["payments", "capture", id, "--idempotency-key", "k"]);
  http.world.clock.advance(2_000);
  http.world.gateway.next("find", async () => ({ outcome: "mismatch", evidence: "another amount" }));
  await run(["payments", "capture", id, "--idempotency-key", "k"]);
  const { data } = await json(["review", "list"]);
  const [{ operationId }] = data as [{ operationId: string }];
  const verdict = ["--not-moved", "--evidence", "nothing there", "--override", "case 77"];
  const done = await run(["review", "resolve", operationId, ...verdict]);
  expect(done.stdout).toContain(`capture ${operationId}: failed`);
  expect((await run(["review", "show", operationId])).stdout).toContain("overrideReason case 77");
});

test("the whole program: a payment through a server that keeps it in a file", async () => {
  const url = await holdfast.serve().url();
  const at = (...args: string[]) => holdfast.run([...args, "--json"], { HOLDFAST_URL: url });
  const made = await at("payments", "authorize", ...CARD, "tok_ok");
  const { payment } = JSON.parse(made.stdout) as { payment: { id: string } };
  expect(await at("payments", "capture", payment.id)).toMatchObject({ status: 0 });
  expect(await at("payments", "refund", payment.id)).toMatchObject({ status: 0 });
  const { stdout } = await at("payments", "show", payment.id);
  expect(JSON.parse(stdout)).toMatchObject({ payment: { amountCaptured: 1250, amountRefunded: 1250 } });
});
