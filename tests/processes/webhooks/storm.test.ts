import { randomBytes } from "node:crypto";
import { startedProgram } from "../../support/program/built-program";
import { describeAtFullSize, describeWithPostgres } from "../../support/servers/servers";
import { isFullStorm } from "../../support/storms";
import { temporaryDirectory } from "../../support/worlds/temporary-directory";
import { expectGood } from "../histories/expect-good";
import { webhookStorm, type WebhookStormOptions } from "./webhook-storm";

const KILLS = isFullStorm ? 100 : 20;

jest.setTimeout(isFullStorm ? 1_800_000 : 600_000);

const temporary = temporaryDirectory();

async function expectEachEventDelivered(
  options: Pick<WebhookStormOptions, "flags" | "instances" | "env">,
): Promise<void> {
  const main = await startedProgram();
  const { told, endpoints, history } = await webhookStorm({
    main,
    folder: temporary.path,
    kills: KILLS,
    ...options,
  });
  expect(told.length).toBeGreaterThan(KILLS);
  endpoints.expectDelivered(told);
  expectGood("webhooks", history, { leastCalls: 20, kills: KILLS });
}

describeAtFullSize(`a storm of ${KILLS} kills, with endpoints that are fast, slow, dead and lying`, () => {
  it("delivers each event at least once, invents none and keeps each payment's order: SQLite", async () => {
    await expectEachEventDelivered({ flags: [], instances: 1 });
  });

  describeWithPostgres("on three instances", (server) => {
    it("delivers each event at least once, invents none and keeps each payment's order: PostgreSQL", async () => {
      const env = { HOLDFAST_SECRETS_KEY: randomBytes(32).toString("base64") };
      await expectEachEventDelivered({ flags: ["--store", server.url], instances: 3, env });
    });
  });
});
