import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

// A receiver of webhooks in a process of its own, so that what it costs is not counted.
const server = createServer((request, response) => {
  request.resume();
  request.on("end", () => response.writeHead(204).end());
});
server.listen(0, "127.0.0.1", () => process.send?.((server.address() as AddressInfo).port));
process.on("disconnect", () => process.exit());
