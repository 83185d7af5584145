import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

// A receiver of webhooks in a process of its own, so that what it costs is not counted. Told a number, it answers with the
// last body as soon as it has taken so many in all.
let taken = 0;
let wanted = Infinity;
let last = "";

const server = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on("data", (chunk: Buffer) => chunks.push(chunk));
  request.on("end", () => {
    last = Buffer.concat(chunks).toString();
    response.writeHead(204).end();
    taken += 1;
    tellIfEnough();
  });
});

function tellIfEnough(): void {
  if (taken < wanted) return;
  wanted = Infinity;
  process.send?.(last);
}

process.on("message", (count) => {
  wanted = Number(count);
  tellIfEnough();
});
server.listen(0, "127.0.0.1", () => process.send?.((server.address() as AddressInfo).port));
process.on("disconnect", () => process.exit());
