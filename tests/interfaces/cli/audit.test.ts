import { hostname, userInfo } from "node:os";
import { GcsStandIn } from "../../support/gcs-stand-in/gcs-stand-in";
import { HoldfastCli, untilEnded } from "../../support/program/holdfast-cli";

jest.setTimeout(60_000);
const holdfast = new HoldfastCli();

interface Entry {
  readonly kind: string;
  readonly subject: string;
  readonly reason: string | null;
  readonly details: object;
}

test("what is done at the command line is listed by `holdfast audit`, with the user, the host and the reason", async () => {
  const made = ["keys", "create", "--merchant", "acme", "--operator", "--json"];
  const boss = JSON.parse((await holdfast.run([...made, "--reason", "für die Kasse"])).stdout) as {
    id: string;
    secret: string;
  };
  const till = JSON.parse((await holdfast.run(made)).stdout) as { id: string };
  await holdfast.run(["keys", "revoke", till.id]);
  const url = await holdfast.serve("--webhooks-allow", "http,private").url();
  const env = { HOLDFAST_URL: url, HOLDFAST_API_KEY: boss.secret };
  const endpoint = ["webhooks", "create", `${url}/hooks`, "--reason", "ticket 9 — neu"];
  expect(await holdfast.run(endpoint, env)).toMatchObject({ status: 0 });

  const listed = await holdfast.run(["audit", "--json"], env);
  expect(listed).toMatchObject({ status: 0, stderr: "" });
  const { data } = JSON.parse(listed.stdout) as { data: readonly Entry[] };
  const here = {
    actor: { type: "user", name: userInfo().username },
    origin: { over: "command", host: hostname() },
  };
  expect(data).toMatchObject([
    {
      kind: "webhook_endpoint.created",
      actor: { type: "api_key", id: boss.id },
      reason: "ticket 9 — neu",
    },
    { kind: "api_key.revoked", subject: till.id, ...here, reason: null },
    { kind: "api_key.created", subject: till.id, ...here, reason: null },
    { kind: "api_key.created", subject: boss.id, ...here, reason: "für die Kasse" },
  ]);
  const asTable = await holdfast.run(["audit", "--kind", "api_key.revoked", "--limit", "1"], env);
  expect(asTable.stdout).toMatch(/^TIME +WHO +FROM +WHAT +TO WHAT +WHY\n/);
  expect(asTable.stdout).toContain(till.id);
  const page = await holdfast.run(["audit", "--limit", "1"], env);
  expect(page.stderr).toMatch(/^holdfast: there are more entries: continue with --cursor \S+$/);
});

describe("a lock that is broken", () => {
  let standIn: GcsStandIn;
  beforeEach(async () => {
    standIn = await GcsStandIn.start({ buckets: ["locks"] });
  });
  afterEach(() => standIn.close());

  async function held(): Promise<{
    run: (...args: string[]) => ReturnType<HoldfastCli["run"]>;
    owner: string;
  }> {
    const env = { STORAGE_EMULATOR_HOST: standIn.url };
    const at = ["--locks", "gs://locks/jobs"];
    await holdfast.start(["run", "nightly", ...at, "--", ...untilEnded], env).said(/^running (\d+)$/);
    const run = (...args: string[]) => holdfast.run([...args, ...at], env);
    const shown = await run("locks", "show", "task:nightly", "--json");
    const { holder } = JSON.parse(shown.stdout) as { holder: { ownerId: string } };
    return { run, owner: holder.ownerId };
  }

  test("a broken lock is in the store's audit, from before it is broken", async () => {
    const boss = await holdfast.run(["keys", "create", "--merchant", "acme", "--operator"]);
    const { run, owner } = await held();
    await run("locks", "break", "task:nightly", "--if-held-by", "somebody");
    const broken = await run(
      "locks",
      "break",
      "task:nightly",
      "--if-held-by",
      owner,
      "--reason",
      "web-2 burnt",
    );
    expect(broken.status).toBe(0);
    const env = { HOLDFAST_URL: await holdfast.serve().url(), HOLDFAST_API_KEY: boss.stdout.trim() };
    const { stdout } = await holdfast.run(["audit", "--json"], env);
    const { data } = JSON.parse(stdout) as { data: readonly Entry[] };
    const told = { subject: "task:nightly", reason: "web-2 burnt", details: { ifHeldBy: owner } };
    expect(data.slice(0, -1)).toMatchObject([
      { kind: "lock.broken", ...told },
      { kind: "lock.breaking", ...told },
    ]);
  });

  test("a lock is broken although the store does not answer, with a warning and the lock's own audit line", async () => {
    const { run, owner } = await held();
    const store = ["--store", "postgres://u@127.0.0.1:1/none"];
    const broken = await run("locks", "break", "task:nightly", "--if-held-by", owner, ...store);
    expect(broken.status).toBe(0);
    expect(broken.stderr).toMatch(/the store's audit has no entry lock\.breaking/);
    expect((await run("locks", "show", "task:nightly", "--json")).stdout).toContain('"state":"free"');
  });

  test("a host without a store breaks its locks and makes no store", async () => {
    const { run, owner } = await held();
    const broken = await run("locks", "break", "task:nightly", "--if-held-by", owner);
    expect(broken.status).toBe(0);
    expect(broken.stderr).not.toContain("audit");
    expect(holdfast.files()).not.toContain("data");
  });
});
