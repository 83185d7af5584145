import express from "express";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { openHoldfast } from "../src";
import { HoldfastClient, MemoryKeys } from "../src/client";

// An application of one's own with Holdfast in it, called in the process and over HTTP.
//   node -r esbuild-register examples/embedded.ts
// Outside of this repository: import { openHoldfast } from "holdfast" and { HoldfastClient } from "holdfast/client".

async function main(): Promise<void> {
  const holdfast = await openHoldfast({ store: "memory:", logLevel: "error", trustCallers: true });
  const app = express();
  app.use("/payments-api", holdfast.router());
  const server = createServer(app);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));

  const { answer } = await holdfast.payments.authorize({
    idempotencyKey: "order-17",
    amount: 1_250,
    currency: "EUR",
    paymentMethod: "tok_ok",
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/payments-api`;
  const shop = new HoldfastClient(url, { keys: new MemoryKeys() });
  const captured = await shop.payments.capture("order 17: capture", answer.payment.id);
  const again = await shop.payments.capture("order 17: capture", answer.payment.id);
  console.log(
    `captured ${captured.answer.payment.amountCaptured}, asked again: ${again.isReplayed ? "the same answer" : "twice"}`,
  );

  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  await holdfast.close();
}

void main();
