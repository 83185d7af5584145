import { AuthorizePayment } from "../../../src/application/use-cases/authorize-payment";
import { CapturePayment } from "../../../src/application/use-cases/capture-payment";
import { RefundPayment } from "../../../src/application/use-cases/refund-payment";
import { VoidPayment } from "../../../src/application/use-cases/void-payment";
import type { LockProvider } from "../../../src/application/ports/lock-provider";
import { parseIdempotencyKey } from "../../../src/domain/identifiers";
import { money, parseCurrency } from "../../../src/domain/money";
import { NoOpLockProvider } from "../../../src/infrastructure/locking/none/no-op-lock-provider";
import { PaymentsWorld } from "../../support/worlds/payments-world";

const idempotencyKey = parseIdempotencyKey("k");

it("captures under whichever lock provider the use case is handed", async () => {
  const world = new PaymentsWorld();
  const capture = new CapturePayment(new NoOpLockProvider(), world.context);
  const paymentId = await world.authorize();
  const { payment } = await capture.execute({ paymentId, idempotencyKey }, world.caller());
  expect(payment.facts.status).toBe("captured");
});

it("asks its own lock provider, and no other, for the payment's lock", async () => {
  const world = new PaymentsWorld();
  const asked: string[] = [];
  const locks: LockProvider = {
    withLock: (id, section, options) => {
      asked.push(`${options?.purpose} ${options?.scope}`);
      return world.locks.withLock(id, section, options);
    },
  };
  const wanted = { amount: money(9n, parseCurrency("EUR")), paymentMethod: "tok_ok", expiresInSeconds: 60 };
  const authorize = new AuthorizePayment(locks, world.context);
  const command = { ...wanted, idempotencyKey, reference: null, metadata: {} };
  const { payment } = await authorize.execute(command, world.caller());
  await new CapturePayment(locks, world.context).execute(
    { paymentId: payment.facts.id, idempotencyKey },
    world.caller(),
  );
  await new RefundPayment(locks, world.context).execute(
    { paymentId: payment.facts.id, idempotencyKey },
    world.caller(),
  );
  const other = await world.authorize();
  await new VoidPayment(locks, world.context).execute({ paymentId: other, idempotencyKey }, world.caller());
  expect(asked).toEqual(["authorize payment", "capture payment", "refund payment", "void payment"]);
});
