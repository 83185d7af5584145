import { execFileSync, spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { eventually, HoldfastCli } from "../../support/program/holdfast-cli";
import { WebhookReceiver } from "../../support/receivers/webhook-receiver";
import { freePort } from "../../support/servers/own-process";
import { describeWithPrometheus, describeWithPostgres } from "../../support/servers/servers";

jest.setTimeout(120_000);
const DEPLOY = join(__dirname, "..", "..", "..", "deploy");
const RULES = join(DEPLOY, "prometheus", "holdfast.rules.yml");
const RUNBOOK = readFileSync(join(__dirname, "..", "..", "..", "docs", "runbook.md"), "utf8");

interface Rule {
  readonly alert: string;
  readonly annotations: { readonly runbook: string };
}
const { groups } = parse(readFileSync(RULES, "utf8")) as { groups: { rules: Rule[] }[] };
const alerts = groups.flatMap(({ rules }) => rules);

test.each(alerts)(
  "the runbook says what $alert means, how to look and what to do",
  ({ alert, annotations }) => {
    expect(annotations.runbook).toBe(`docs/runbook.md#${alert.toLowerCase()}`);
    const [, paragraph = ""] = RUNBOOK.split(`\n## ${alert}\n`);
    const [own = ""] = paragraph.split("\n## ");
    for (const part of ["**Means:**", "**Look:**", "**Do:**"]) expect(own).toContain(part);
  },
);

test("the runbook has no paragraph of an alert that there is not", () => {
  const headings = [...RUNBOOK.matchAll(/^## (\w+)$/gm)].map(([, name]) => name);
  expect(headings.sort()).toEqual(alerts.map(({ alert }) => alert).sort());
});

describeWithPrometheus("the alerts and the dashboard", () => {
  test("each alert fires for its cause, and not for what looks like it", () => {
    const tests = "holdfast.rules.test.yml";
    const folder = join(DEPLOY, "prometheus");
    const told = execFileSync("promtool", ["test", "rules", tests], { cwd: folder, encoding: "utf8" });
    expect(told).toContain("SUCCESS");
    const { tests: cases } = parse(readFileSync(join(folder, tests), "utf8")) as {
      tests: { name: string }[];
    };
    expect(cases.map(({ name }) => name)).toEqual(
      alerts.flatMap(({ alert }) => [`${alert} fires`, `${alert} does not fire without cause`]),
    );
  });

  describeWithPostgres("each query of the dashboard", (server) => {
    const holdfast = new HoldfastCli();
    let prometheus: ChildProcess | undefined;
    afterEach(async () => {
      if (prometheus === undefined) return;
      const ended = once(prometheus, "exit");
      prometheus.kill("SIGKILL");
      await ended;
    });

    test("each query of the dashboard returns data while captures run, and no query of an alert fails", async () => {
      const receiver = await WebhookReceiver.open();
      const more = ["--webhooks-allow", "http,private"];
      const servers = [
        holdfast.serve(...more, "--store", "sqlite:data.db"),
        holdfast.serve(...more, "--store", server.url, "--secrets-key", "a".repeat(64)),
      ];
      const urls = await Promise.all(servers.map((one) => one.url()));
      for (const url of urls) await post(url, "/webhook-endpoints", { url: receiver.url });
      const at = await startPrometheus(urls);
      let isOver = false;
      const load = Promise.all(
        urls.map(async (url) => {
          while (!isOver) await captureOne(url);
        }),
      );
      try {
        const queries = queriesOfDashboard();
        expect(queries.length).toBeGreaterThan(15);
        for (const query of queries) await eventually(() => valuesOf(at, query), hasData);
        const { data } = await ask<{ data: { groups: { rules: { name: string; lastError?: string }[] }[] } }>(
          `${at}/api/v1/rules`,
        );
        const rules = data.groups.flatMap((group) => group.rules);
        expect(rules.map(({ name }) => name)).toEqual(alerts.map(({ alert }) => alert));
        expect(rules.filter(({ lastError }) => lastError !== undefined && lastError !== "")).toEqual([]);
        // Nothing is wrong, and no alert says that something is.
        const told = await ask<{ data: { alerts: { state: string }[] } }>(`${at}/api/v1/alerts`);
        expect(told.data.alerts.filter(({ state }) => state === "firing")).toEqual([]);
      } finally {
        isOver = true;
        await load;
        await receiver.close();
        // Before the database is dropped.
        await Promise.all(servers.map((one) => one.end("SIGKILL")));
      }
    });

    async function startPrometheus(urls: readonly string[]): Promise<string> {
      const folder = join(holdfast.folder, "prometheus");
      mkdirSync(folder);
      const targets = urls.map((url) => `"${new URL(url).host}"`).join(", ");
      const config = `global: { scrape_interval: 1s, evaluation_interval: 1s }
rule_files: ["${RULES}"]
scrape_configs: [{ job_name: holdfast, static_configs: [{ targets: [${targets}] }] }]
`;
      writeFileSync(join(folder, "prometheus.yml"), config);
      const port = await freePort();
      prometheus = spawn(
        "prometheus",
        [
          `--config.file=${join(folder, "prometheus.yml")}`,
          `--storage.tsdb.path=${join(folder, "data")}`,
          `--web.listen-address=127.0.0.1:${port}`,
          "--log.level=error",
        ],
        { stdio: "ignore" },
      );
      const at = `http://127.0.0.1:${port}`;
      await eventually(
        () =>
          fetch(`${at}/-/ready`).then(
            ({ ok }) => ok,
            () => false,
          ),
        (isReady) => isReady,
      );
      return at;
    }
  });
});

interface Sample {
  readonly value: readonly [number, string];
}

async function ask<T>(url: string): Promise<T> {
  return (await (await fetch(url)).json()) as T;
}

async function valuesOf(at: string, query: string): Promise<readonly string[]> {
  const url = `${at}/api/v1/query?query=${encodeURIComponent(query)}`;
  const { data } = await ask<{ data: { result: readonly Sample[] } }>(url);
  return data.result.map(({ value: [, text] }) => text);
}

const hasData = (values: readonly string[]) => values.some((text) => text !== "NaN");

function queriesOfDashboard(): readonly string[] {
  const dashboard = JSON.parse(readFileSync(join(DEPLOY, "grafana", "holdfast.json"), "utf8")) as {
    panels: { targets: { expr: string }[] }[];
  };
  return dashboard.panels.flatMap(({ targets }) => targets.map(({ expr }) => expr));
}

let sent = 0;

async function post(url: string, path: string, body: object): Promise<unknown> {
  const answer = await fetch(url + path, {
    method: "POST",
    headers: { "content-type": "application/json", "idempotency-key": `k${(sent += 1)}` },
    body: JSON.stringify(body),
  });
  return answer.json();
}

async function captureOne(url: string): Promise<void> {
  const order = { amount: 500, currency: "EUR", paymentMethod: "tok_ok" };
  const { payment } = (await post(url, "/payments", order)) as { payment: { id: string } };
  await post(url, `/payments/${payment.id}/capture`, {});
  await new Promise((resolve) => setTimeout(resolve, 20));
}
