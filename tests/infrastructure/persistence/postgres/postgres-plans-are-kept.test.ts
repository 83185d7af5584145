import { randomUUID } from "node:crypto";
import { Client } from "pg";
import type { Caller } from "../../../../src/application/operations/caller";
import { AuthorizePayment } from "../../../../src/application/use-cases/authorize-payment";
import { CapturePayment } from "../../../../src/application/use-cases/capture-payment";
import { parseIdempotencyKey, parseMerchantId, type PaymentId } from "../../../../src/domain/identifiers";
import { money, parseCurrency } from "../../../../src/domain/money";
import {
  openApplication,
  type Application,
} from "../../../../src/infrastructure/composition/opening/open-application";
import { readConfiguration } from "../../../../src/infrastructure/configuration/configuration";
import { describeWithPostgres } from "../../../support/servers/servers";

jest.setTimeout(60_000);

const caller: Caller = { merchant: parseMerchantId("acme"), actor: { apiKey: null, requestId: "test" } };
const eur = parseCurrency("EUR");
/** So often PostgreSQL plans a statement for its values before it considers a plan for any. */
const TRIAL_PLANS = 5;

describeWithPostgres("PostgreSQL keeps the plans of what a payment sends:", (postgres) => {
  let application: Application;
  const connected = jest.spyOn(Client.prototype, "connect");
  beforeEach(async () => {
    application = await openApplication(
      readConfiguration({
        flags: { store: postgres.url, "store-connections": "1", "log-level": "silent" },
        environment: {},
      }),
      { purpose: "test" },
    );
  });
  afterEach(async () => application.close());
  afterAll(() => connected.mockRestore());

  async function authorize(): Promise<PaymentId> {
    const { payment } = await application.container.get(AuthorizePayment).execute(
      {
        idempotencyKey: parseIdempotencyKey(randomUUID()),
        amount: money(1_000n, eur),
        paymentMethod: "tok_ok",
        reference: null,
        metadata: {},
        expiresInSeconds: 86_400,
      },
      caller,
    );
    return payment.facts.id;
  }

  async function capture(paymentId: PaymentId): Promise<void> {
    const idempotencyKey = parseIdempotencyKey(randomUUID());
    const command = { paymentId, idempotencyKey, amount: 1_000n, currency: eur };
    const { operation } = await application.container.get(CapturePayment).execute(command, caller);
    expect(operation.status).toBe("succeeded");
  }

  /** Of each statement that was sent often: how often it was planned for its values, by its beginning. */
  async function plansOfEach(): Promise<Record<string, number>> {
    const plans: Record<string, number> = {};
    for (const client of new Set(connected.mock.contexts as Client[])) {
      if ((client as unknown as { _ending: boolean })._ending) continue;
      const { rows } = await client.query<{ statement: string; own: string }>(
        `SELECT statement, custom_plans AS own FROM pg_prepared_statements WHERE generic_plans + custom_plans > ${2 * TRIAL_PLANS}`,
      );
      for (const { statement, own } of rows) plans[statement] = Number(own);
    }
    return plans;
  }

  it.each([1, 4])("of %i at a time, no statement is planned anew for each", async (atOnce) => {
    for (let round = 0; round < 6 * TRIAL_PLANS; round += 1) {
      const payments = await Promise.all(Array.from({ length: atOnce }, authorize));
      await Promise.all(payments.map(capture));
    }
    const plans = await plansOfEach();
    // To begin and to end: an intent, a lock and its release, the gateway's two, the payment itself.
    expect(Object.keys(plans).length).toBeGreaterThanOrEqual(6);
    expect(Object.entries(plans).filter(([, own]) => own > TRIAL_PLANS)).toEqual([]);
  });
});
