import type { Server } from "node:http";
import type { AddressInfo } from "node:net";

/** Listens on a free port, tells it to the process that started this one, and its CPU time whenever that asks. */
export function answerParent(server: Server): void {
  server.listen(0, "127.0.0.1", () => process.send?.((server.address() as AddressInfo).port));
  process.on("message", () => {
    const { user, system } = process.cpuUsage();
    process.send?.(user + system);
  });
  process.on("disconnect", () => process.exit(0));
}
