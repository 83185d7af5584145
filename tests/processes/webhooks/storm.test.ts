import { randomBytes } from "node:crypto";
import { builtProgram } from "../../support/program/built-program";
import { describeWithPostgres } from "../../support/servers/servers";
import type { ReceivedWebhook } from "../../support/receivers/webhook-receiver";
import { size } from "../../support/test-size";
import { temporaryDirectory } from "../../support/worlds/temporary-directory";
import { webhookStorm, type WebhookStormOptions, type WebhookStormOutcome } from "./webhook-storm";

const isStorm = process.env["HOLDFAST_STORM"] === "full";
const KILLS = isStorm ? 100 : size(20, 4);
const HERE = ["--webhooks-allow", "http,private"];

jest.setTimeout(isStorm ? 1_800_000 : size(600_000, 240_000));

const temporary = temporaryDirectory();

async function run(
  options: Pick<WebhookStormOptions, "flags" | "instances" | "env">,
): Promise<WebhookStormOutcome> {
  return webhookStorm({ main: await builtProgram(), folder: temporary.path, kills: KILLS, ...options });
}

function expectEachEventAtLeastOnce({ told, received, unverified }: WebhookStormOutcome): void {
  const byId = new Map(told.map((event) => [event.id, event]));
  expect(byId.size).toBeGreaterThan(KILLS);
  expect(unverified).toEqual([]);
  for (const [name, all] of Object.entries(received)) {
    const arrived = new Set(all.map(({ id }) => id));
    const missing = told.filter(({ id }) => !arrived.has(id)).map(({ id, type }) => `${type} ${id}`);
    // What is dead has taken nothing, so a payment's later events still wait.
    if (name !== "dead") expect({ name, missing }).toEqual({ name, missing: [] });
    expect({ name, invented: [...arrived].filter((id) => !byId.has(id)) }).toEqual({ name, invented: [] });
    const bodies = new Map<string, string>();
    for (const { id, body } of all) {
      expect(JSON.parse(body)).toEqual(byId.get(id));
      expect({ id, body }).toEqual({ id, body: bodies.get(id) ?? body });
      bodies.set(id, body);
    }
    // Else nothing was ever tried again, and the rest shows little.
    if (name === "lying" || name === "dead") expect(repeated(all)).toBeGreaterThan(0);
    expect({ name, outOfOrder: outOfOrder(all) }).toEqual({ name, outOfOrder: [] });
  }
}

function repeated(all: readonly ReceivedWebhook[]): number {
  return all.length - new Set(all.map(({ id }) => id)).size;
}

/** Of each payment, by when each event arrived first. */
function outOfOrder(all: readonly ReceivedWebhook[]): string[] {
  const highest = new Map<string, number>();
  const seen = new Set<string>();
  return all.flatMap(({ id, body }) => {
    const { payment, sequence } = (JSON.parse(body) as WebhookStormOutcome["told"][number]).data;
    if (seen.has(id) || payment === undefined || sequence === undefined) return [];
    seen.add(id);
    const before = highest.get(payment.id) ?? 0;
    highest.set(payment.id, Math.max(before, sequence));
    return sequence === before + 1 ? [] : [`${payment.id}: ${sequence} after ${before}`];
  });
}

describe(`a storm of ${KILLS} kills, with endpoints that are fast, slow, dead and lying`, () => {
  it("delivers each event at least once, invents none and keeps each payment's order: SQLite", async () => {
    expectEachEventAtLeastOnce(await run({ flags: HERE, instances: 1 }));
  });
});

describeWithPostgres(`a storm of ${KILLS} kills on three instances`, (server) => {
  it("delivers each event at least once, invents none and keeps each payment's order: PostgreSQL", async () => {
    const env = { HOLDFAST_SECRETS_KEY: randomBytes(32).toString("base64") };
    expectEachEventAtLeastOnce(await run({ flags: ["--store", server.url, ...HERE], instances: 3, env }));
  });
});
