import { openHoldfast } from "../../../../src";

/** Prints what becomes of a capture through each of the gateway modules that are named, in their order. */
void (async () => {
  const outcomes: string[] = [];
  for (const file of process.argv.slice(2)) {
    const gateway = `module:${file}`;
    const holdfast = await openHoldfast({ store: "memory:", logLevel: "silent", gateway });
    const order = { amount: 500, currency: "EUR", paymentMethod: "card", idempotencyKey: "order" };
    const paymentId = (await holdfast.payments.authorize(order)).answer.payment.id;
    const { answer } = await holdfast.payments.capture({ paymentId, idempotencyKey: "one" });
    outcomes.push(answer.capture.status);
    await holdfast.close();
  }
  console.log(JSON.stringify(outcomes));
})();
