import { createHmac, timingSafeEqual } from "node:crypto";
import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";

// A receiver of webhooks, with nothing but Node: verifies each delivery, drops duplicates, answers at once.
//   WEBHOOK_SECRET=whsec_… PORT=3000 node -r esbuild-register examples/webhook-receiver.ts
// With a library it is one line: new Webhook(secret).verify(body, headers), from the package standardwebhooks.

const secret = process.env["WEBHOOK_SECRET"] ?? "";
const key = Buffer.from(secret.replace(/^whsec_/, ""), "base64");
/** An older delivery may be one that somebody has recorded and plays again. */
const TOLERANCE_SECONDS = 300;
const MAX_BODY_BYTES = 1_000_000;

/** Signed over exactly what was sent: the body must not have been parsed and written again. */
function isGenuine(headers: IncomingHttpHeaders, body: string): boolean {
  const { "webhook-id": id, "webhook-timestamp": timestamp, "webhook-signature": signatures } = headers;
  if (typeof id !== "string" || typeof timestamp !== "string" || typeof signatures !== "string") return false;
  if (!(Math.abs(Date.now() / 1_000 - Number(timestamp)) <= TOLERANCE_SECONDS)) return false;
  const expected = createHmac("sha256", key).update(`${id}.${timestamp}.${body}`).digest();
  // While a secret is being rotated there are two.
  return signatures.split(" ").some((one) => {
    const given = Buffer.from(one.replace(/^v1,/, ""), "base64");
    return one.startsWith("v1,") && given.length === expected.length && timingSafeEqual(given, expected);
  });
}

/** In a real receiver: a table with a unique column, written in the transaction that also does what the event asks for. */
const seen = new Set<string>();

function handle(event: { readonly id: string; readonly type: string }): void {
  if (seen.has(event.id)) return console.log(`${event.type}: had it already`);
  seen.add(event.id);
  console.log(`${event.type}: new`);
}

const server = createServer((request, response) => {
  const chunks: Buffer[] = [];
  let bytes = 0;
  request.on("data", (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > MAX_BODY_BYTES) request.destroy();
    else chunks.push(chunk);
  });
  request.on("end", () => {
    const body = Buffer.concat(chunks).toString("utf8");
    if (!isGenuine(request.headers, body)) return response.writeHead(400).end();
    handle(JSON.parse(body) as Parameters<typeof handle>[0]);
    // Whatever takes long belongs after this: who does not answer within 15 s is sent it again.
    return response.writeHead(204).end();
  });
});

server.listen(Number(process.env["PORT"] ?? "3000"), "127.0.0.1", () => {
  console.log(`listening on http://127.0.0.1:${(server.address() as AddressInfo).port}`);
});
