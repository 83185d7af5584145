import { randomBytes } from "node:crypto";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { signed } from "../../support/stripe-stand-in/signed-event";
import { eventually, HoldfastCli } from "../../support/program/holdfast-cli";
import { describeWithPostgres } from "../../support/servers/servers";
import { StripeStandIn } from "../../support/stripe-stand-in/stripe-stand-in";

jest.setTimeout(60_000);
const holdfast = new HoldfastCli();
const ACCOUNT = "acct_1032D82eZvKYlo2C";

describe("holdfast merchants", () => {
  const merchants = (...args: string[]) => holdfast.run(["merchants", ...args, "--json"]);
  beforeEach(async () => {
    // Only this command makes a store.
    expect((await holdfast.run(["keys", "create", "--merchant", "acme"])).status).toBe(0);
  });

  test("holdfast merchants sets, shows, lists and unsets the account of a merchant", async () => {
    const set = await merchants("set", "acme", "--stripe-account", ACCOUNT);
    expect(set.status).toBe(0);
    const shown = {
      merchant: "acme",
      account: ACCOUNT,
      setAt: expect.any(String),
      access: "connected",
      hasWebhookSecrets: false,
    };
    expect(JSON.parse(set.stdout)).toEqual(shown);
    expect(JSON.parse((await merchants("list")).stdout)).toEqual([shown]);
    expect(JSON.parse((await merchants("show", "acme")).stdout)).toEqual(shown);
    expect(JSON.parse((await merchants("show", "zoo")).stdout)).toMatchObject({ account: null });
    expect((await merchants("unset", "acme")).status).toBe(0);
    expect(JSON.parse((await merchants("list")).stdout)).toEqual([]);
    expect(await merchants("unset", "acme")).toMatchObject({
      status: 64,
      stderr: expect.stringContaining("acme has no account of its own"),
    });
  });

  test.each([
    [["set", "acme", "--stripe-account", "1032D82eZvKYlo2C"], "--stripe-account must be acct_"],
    [["set", "acme", "--stripe-account", "acct_a/../b"], "--stripe-account must be acct_"],
    [["set", "Not a merchant", "--stripe-account", ACCOUNT], "a merchant is 1 to 63"],
    [["set", "acme"], "name the account by --stripe-account, or give its key by --stripe-key-file"],
    [
      ["set", "", "--stripe-account", ACCOUNT],
      '"" cannot be a merchant: a merchant is 1 to 63'.replaceAll('"', '\\"'),
    ],
    [["set", "acme", "--stripe-key-file", "nowhere"], "--stripe-key-file: nowhere cannot be read (ENOENT)"],
    [["set", "acme", "--stripe-key-file", "."], "--stripe-key-file: . cannot be read (EISDIR)"],
    [
      ["set", "acme", "--stripe-account", ACCOUNT, "--stripe-webhook-secret-file", "x"],
      "--stripe-webhook-secret-file goes with --stripe-key-file",
    ],
    [["forget", "acct_nobody"], "acct_nobody is not known"],
    [["forget", "acme"], "the account must be acct_"],
  ])("holdfast merchants refuses %j with 64", async (args, words) => {
    expect(await merchants(...args)).toMatchObject({ status: 64, stderr: expect.stringContaining(words) });
  });

  test("holdfast merchants set says that it has no effect with a gateway that is not Stripe", async () => {
    const plain = await holdfast.run(["merchants", "set", "acme", "--stripe-account", ACCOUNT]);
    expect(plain).toMatchObject({ status: 0, stdout: `acme has the account ${ACCOUNT}\n` });
    expect(plain.stderr).toMatch(
      /the gateway is simulated: \(.*default.*\), and only stripe: has accounts of merchants: with this gateway the setting has no effect$/m,
    );
    expect(plain.stderr).toContain(`${ACCOUNT} was not compared with the server's own account`);
    const standIn = new StripeStandIn();
    await standIn.listen();
    const stripe = {
      HOLDFAST_GATEWAY: "stripe:",
      STRIPE_API_KEY: standIn.apiKey,
      HOLDFAST_STRIPE_URL: standIn.url,
    };
    const set = () => holdfast.run(["merchants", "set", "acme", "--stripe-account", ACCOUNT], stripe);
    expect((await set()).stderr).not.toMatch(/no effect|not compared/);
    await standIn.close();
    expect(await set()).toMatchObject({
      status: 69,
      stderr: expect.stringContaining("does not say which account is the server's own"),
    });
  });

  describe("with a key of the merchant's own", () => {
    const KEY = "sk_test_veryOwnKey0123456789";
    const SECRET = "whsec_veryOwnSecret0123456789";
    let stripe: StripeStandIn;
    let env: NodeJS.ProcessEnv;
    beforeEach(async () => {
      stripe = new StripeStandIn();
      await stripe.listen();
      stripe.own("acct_own", KEY);
      env = { HOLDFAST_GATEWAY: "stripe:", STRIPE_API_KEY: stripe.apiKey, HOLDFAST_STRIPE_URL: stripe.url };
      writeFileSync(join(holdfast.folder, "own.key"), `${KEY}\n`);
      writeFileSync(join(holdfast.folder, "own.whsec"), `${SECRET}\n`);
    });
    afterEach(() => stripe.close());

    const set = (...args: string[]) =>
      holdfast.run(["merchants", "set", "acme", "--stripe-key-file", "own.key", ...args], env);

    test("holdfast merchants set with a key file asks Stripe whose it is, and shows the key nowhere", async () => {
      const done = await set("--stripe-webhook-secret-file", "own.whsec");
      expect(done).toMatchObject({
        status: 0,
        stdout: "acme has the account acct_own, by a key of its own\n",
      });
      const listed = await holdfast.run(["merchants", "list"], env);
      expect(listed.stdout).toMatch(/^acme +acct_own +own key +yes +\d{4}-/m);
      const shown = await holdfast.run(["merchants", "show", "acme", "--json"], env);
      expect(JSON.parse(shown.stdout)).toMatchObject({ access: "own_key", hasWebhookSecrets: true });
      const told = [done, listed, shown].map(({ stdout, stderr }) => stdout + stderr).join("\n");
      const stored = readdirSync(join(holdfast.folder, "data"), { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map((entry) => readFileSync(join(entry.parentPath, entry.name), "latin1"))
        .join("\n");
      for (const secret of [KEY, SECRET, "veryOwn"]) {
        expect(told).not.toContain(secret);
        expect(stored).not.toContain(secret);
      }
      expect(stored).toContain("acct_own");
      expect((await holdfast.run(["merchants", "unset", "acme"], env)).status).toBe(0);
      expect(await holdfast.run(["merchants", "forget", "acct_own"], env)).toMatchObject({ status: 0 });
    });

    test("holdfast merchants set refuses a key that is none, is Stripe's no more, or is another account's, without showing it", async () => {
      const other = await set("--stripe-account", ACCOUNT);
      expect(other).toMatchObject({
        status: 64,
        stderr: `holdfast: --stripe-key-file: the key is that of acct_own, not of ${ACCOUNT}: nothing was changed`,
      });
      stripe.own("acct_own", "sk_test_next");
      const refused = await set();
      expect(refused).toMatchObject({
        status: 64,
        stderr: expect.stringContaining("the gateway refuses the key"),
      });
      writeFileSync(join(holdfast.folder, "own.key"), `${KEY} and more`);
      const none = await set();
      expect(none).toMatchObject({
        status: 64,
        stderr: expect.stringContaining("must have one secret key in it"),
      });
      await stripe.close();
      writeFileSync(join(holdfast.folder, "own.key"), KEY);
      const silent = await set();
      expect(silent).toMatchObject({
        status: 69,
        stderr: expect.stringContaining("does not say whose the key is"),
      });
      for (const { stderr } of [other, refused, none, silent]) expect(stderr).not.toContain("veryOwn");
      await stripe.listen();
    });

    test("holdfast merchants set refuses the server's own account, by its id and by its key", async () => {
      const byId = ["merchants", "set", "acme", "--stripe-account", "acct_server"];
      expect(await holdfast.run(byId, env)).toMatchObject({
        status: 64,
        stderr: expect.stringMatching(/^holdfast: --stripe-account: acct_server is the server's own account/),
      });
      writeFileSync(join(holdfast.folder, "own.key"), stripe.apiKey);
      expect(await set()).toMatchObject({
        status: 64,
        stderr: expect.stringMatching(
          /^holdfast: --stripe-key-file: the key is that of the server's own account/,
        ),
      });
      expect((await holdfast.run(["merchants", "show", "acme"], env)).stdout).toContain("the common account");
    });

    test("a restricted key is taken with the account that is named beside it", async () => {
      stripe.restricted.add(KEY);
      expect(await set()).toMatchObject({
        status: 64,
        stderr: expect.stringContaining("by --stripe-account"),
      });
      expect(await set("--stripe-account", "acct_own")).toMatchObject({ status: 0 });
    });

    test("a server whose key for secrets does not open a merchant's key refuses to start with 78", async () => {
      const first = { ...env, HOLDFAST_SECRETS_KEY: randomBytes(32).toString("base64") };
      expect(
        (await holdfast.run(["merchants", "set", "acme", "--stripe-key-file", "own.key"], first)).status,
      ).toBe(0);
      const other = { ...env, HOLDFAST_SECRETS_KEY: randomBytes(32).toString("base64") };
      expect(await holdfast.run(["serve", "--port", "0"], other)).toMatchObject({
        status: 78,
        stderr: expect.stringContaining("a stored secret was sealed with the key"),
      });
    });

    test("holdfast merchants set refuses to seal with another key than the one that has sealed what is stored", async () => {
      const keyed = () => ({ ...env, HOLDFAST_SECRETS_KEY: randomBytes(32).toString("base64") });
      const right = keyed();
      const setIn = (environment: NodeJS.ProcessEnv) =>
        holdfast.run(["merchants", "set", "acme", "--stripe-key-file", "own.key", "--json"], environment);
      expect(await setIn(right)).toMatchObject({ status: 0 });
      const refused = await setIn(keyed());
      expect(refused).toMatchObject({ status: 78, stdout: "" });
      expect(JSON.parse(refused.stderr.split("\n").at(-1)!)).toMatchObject({
        error: {
          code: "secrets_key_wrong",
          message: expect.stringContaining("set HOLDFAST_SECRETS_KEY to the key that it was sealed with"),
        },
      });
      const both = {
        ...env,
        HOLDFAST_SECRETS_KEY: `${keyed().HOLDFAST_SECRETS_KEY},${right.HOLDFAST_SECRETS_KEY}`,
      };
      expect(await setIn(both)).toMatchObject({ status: 0 });
      // All is sealed with the first of both now.
      expect(await setIn(right)).toMatchObject({ status: 78 });
      const server = holdfast.start(["serve", "--port", "0"], both);
      expect(await server.url()).toContain("http");
    });

    test("a running server with another key for secrets seals nothing, and says once in its log that an account does not open", async () => {
      const keyed = (bytes: Buffer) => ({ ...env, HOLDFAST_SECRETS_KEY: bytes.toString("base64") });
      const made = await holdfast.run(["keys", "create", "--merchant", "acme"], env);
      // It starts before anything is sealed, so that its start cannot tell.
      const server = holdfast.start(
        ["serve", "--port", "0", "--gateway-catch-up", "0"],
        keyed(randomBytes(32)),
      );
      const url = await server.url();
      const set = ["merchants", "set", "acme", "--stripe-key-file", "own.key"];
      expect((await holdfast.run(set, keyed(randomBytes(32)))).status).toBe(0);
      const post = async (path: string, body: object, key: string) => {
        const answer = await fetch(url + path, {
          method: "POST",
          headers: {
            "content-type": "application/json",
            authorization: `Bearer ${made.stdout.trim()}`,
            "idempotency-key": key,
          },
          body: JSON.stringify(body),
        });
        return { retryAfter: answer.headers.get("retry-after"), body: (await answer.json()) as object };
      };
      for (const key of ["one", "two"])
        expect(
          await post("/payments", { amount: 500, currency: "EUR", paymentMethod: "pm_card_visa" }, key),
        ).toMatchObject({
          retryAfter: null,
          body: { status: 502, code: "gateway_access_refused", retryable: false },
        });
      expect(await post("/webhook-endpoints", { url: "https://shop.example/hooks" }, "three")).toMatchObject({
        body: { code: "secrets_key_wrong" },
      });
      const { stdout, stderr } = await server.end("SIGTERM");
      const told = (stdout + stderr).split("\n").filter((line) => line.includes("account_not_opened"));
      expect(told).toHaveLength(1);
      expect(JSON.parse(told[0]!)).toMatchObject({
        account: "acct_own",
        msg: expect.stringContaining("set HOLDFAST_SECRETS_KEY to the key that it was sealed with"),
      });
    });

    test("a running server moves the merchant's next payment by the key, and takes events of its endpoint", async () => {
      const own = stripe.own("acct_own", KEY);
      const made = await holdfast.run(["keys", "create", "--merchant", "acme"], env);
      const authorization = `Bearer ${made.stdout.trim()}`;
      const server = holdfast.start(["serve", "--port", "0", "--gateway-catch-up", "0"], env);
      const url = await server.url();
      expect((await set("--stripe-webhook-secret-file", "own.whsec")).status).toBe(0);
      const post = async (path: string, body: object, headers: Record<string, string>) => {
        const answer = await fetch(url + path, {
          method: "POST",
          headers: { "content-type": "application/json", authorization, ...headers },
          body: JSON.stringify(body, null, 2),
        });
        return { status: answer.status, body: (await answer.json()) as { payment: { id: string } } };
      };
      const card = { amount: 5_000, currency: "EUR", paymentMethod: "pm_card_visa" };
      const { id } = (await post("/payments", card, { "idempotency-key": "one" })).body.payment;
      expect(own.moves).toMatchObject([{ kind: "authorize", paymentId: id }]);
      stripe.arm("capture", "silent_after_acting");
      const captured = post(`/payments/${id}/capture`, {}, { "idempotency-key": "two" });
      await eventually(
        async () => own.events.all.at(-1),
        (event) => event?.type === "charge.captured",
      );
      const event = own.events.all.at(-1)!;
      const { signature } = signed(event, { secret: SECRET });
      const brought = await post("/gateway-events/stripe/acct_own", event, { "stripe-signature": signature });
      expect(brought).toMatchObject({ status: 200, body: { received: "accepted" } });
      expect((await captured).status).toBe(202);
      await eventually(
        async () => {
          const answer = await fetch(`${url}/payments/${id}`, { headers: { authorization } });
          return (await answer.json()) as { payment: { status: string } };
        },
        ({ payment }) => payment.status === "captured",
      );
      const { stdout, stderr } = await server.end("SIGTERM");
      expect(stdout + stderr).not.toContain("veryOwn");
    });
  });

  test("holdfast merchants refuses a store that is not there", async () => {
    const elsewhere = ["--store", "sqlite:./nowhere.db"];
    expect(await holdfast.run(["merchants", "list", ...elsewhere])).toMatchObject({ status: 69 });
  });
});

describeWithPostgres("holdfast merchants on PostgreSQL", (server) => {
  test("holdfast merchants set refuses with 78 where it has another key for secrets than the store, or none", async () => {
    const stripe = new StripeStandIn();
    await stripe.listen();
    stripe.own("acct_own", "sk_test_own");
    writeFileSync(join(holdfast.folder, "own.key"), "sk_test_own");
    const env = { HOLDFAST_STORE: server.url, HOLDFAST_STRIPE_URL: stripe.url };
    const setWith = (keys: NodeJS.ProcessEnv) =>
      holdfast.run(["merchants", "set", "zoo", "--stripe-key-file", "own.key"], { ...env, ...keys });
    const keyed = () => ({ HOLDFAST_SECRETS_KEY: randomBytes(32).toString("base64") });
    const right = keyed();
    expect((await holdfast.run(["keys", "create", "--merchant", "zoo"], env)).status).toBe(0);
    expect(await setWith(right)).toMatchObject({ status: 0 });
    expect(await setWith(keyed())).toMatchObject({
      status: 78,
      stderr: expect.stringContaining("a stored secret was sealed with the key"),
    });
    expect(await setWith({})).toMatchObject({
      status: 78,
      stderr: expect.stringContaining("set HOLDFAST_SECRETS_KEY"),
    });
    expect(await setWith(right)).toMatchObject({ status: 0 });
    await stripe.close();
  });
});

describe("a running server with Stripe", () => {
  let stripe: StripeStandIn;
  beforeEach(async () => {
    stripe = new StripeStandIn();
    await stripe.listen();
  });
  afterEach(() => stripe.close());

  test("a running server with Stripe sends the next payment of a merchant to the account that was set, and what has begun to where it was", async () => {
    const own = stripe.connect(ACCOUNT);
    const env = {
      STRIPE_API_KEY: "sk_test_abc",
      HOLDFAST_STRIPE_URL: stripe.url,
      HOLDFAST_GATEWAY: "stripe:",
    };
    const url = await holdfast.start(["serve", "--port", "0"], env).url();
    const post = async (path: string, key: string, body: object = {}) => {
      const answer = await fetch(url + path, {
        method: "POST",
        headers: { "content-type": "application/json", "idempotency-key": key },
        body: JSON.stringify(body),
      });
      return (await answer.json()) as { payment: { id: string; status: string } };
    };
    const card = { amount: 5_000, currency: "EUR", paymentMethod: "pm_card_visa" };

    const before = (await post("/payments", "one", card)).payment.id;
    const set = await holdfast.run(["merchants", "set", "default", "--stripe-account", ACCOUNT], env);
    expect(set.status).toBe(0);
    const after = (await post("/payments", "two", card)).payment.id;
    for (const id of [before, after])
      expect((await post(`/payments/${id}/capture`, `capture ${id}`.replace(" ", "-"))).payment.status).toBe(
        "captured",
      );
    const moves = (world: typeof own) => world.moves.map(({ kind, paymentId }) => [kind, paymentId]);
    expect(moves(stripe.world)).toEqual([
      ["authorize", before],
      ["capture", before],
    ]);
    expect(moves(own)).toEqual([
      ["authorize", after],
      ["capture", after],
    ]);
  });
});
