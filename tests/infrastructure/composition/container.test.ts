import type { ServiceIdentifier } from "inversify";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import type { LockProvider } from "../../../src/application/ports/lock-provider";
import { CapturePayment } from "../../../src/application/use-cases/capture-payment";
import { tokens } from "../../../src/infrastructure/composition/container/tokens";
import {
  openApplication,
  type Application,
} from "../../../src/infrastructure/composition/opening/open-application";
import { openServer } from "../../../src/infrastructure/composition/serving/open-server";
import { Service } from "../../../src/infrastructure/composition/serving/service";
import { readConfiguration } from "../../../src/infrastructure/configuration/configuration";

/** A server in memory, put together as `serve` does it, but not listening. */
async function opened(): Promise<Application> {
  const flags = { store: "memory:", "log-level": "silent", "sandbox-limit": "0" };
  return openApplication(readConfiguration({ flags, environment: {} }), { purpose: "serve" });
}

describe("the container of a server", () => {
  let application: Application;

  beforeEach(async () => {
    application = await opened();
  });

  afterEach(() => application.close());

  it("has one of everything, however often it is asked", async () => {
    await openServer(application, "0.0.0");
    const { container } = application;
    for (const token of Object.values(tokens) as ServiceIdentifier[])
      expect(container.get(token)).toBe(container.get(token));
    expect(container.get(CapturePayment)).toBe(container.get(CapturePayment));
    expect(container.get(Service)).toBe(container.get(Service));
    container.get(tokens.httpServer).emit("close");
  });

  it("makes one lock provider for all requests", async () => {
    const { container } = application;
    const real = container.get(tokens.locks);
    const made: string[][] = [];
    container.rebind(tokens.locks).toDynamicValue((): LockProvider => {
      const locked: string[] = [];
      made.push(locked);
      return {
        withLock(resourceId, section, options) {
          locked.push(resourceId);
          return real.withLock(resourceId, section, options);
        },
      };
    });
    await openServer(application, "0.0.0");
    const server = container.get(tokens.httpServer).listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    try {
      const post = async (path: string, key: string, body: object) => {
        const response = await fetch(`http://127.0.0.1:${port}${path}`, {
          method: "POST",
          headers: { "Content-Type": "application/json", "Idempotency-Key": key },
          body: JSON.stringify(body),
        });
        return { status: response.status, body: (await response.json()) as { payment: { id: string } } };
      };
      const wanted = { amount: 1250, currency: "EUR", paymentMethod: "tok_ok" };
      const { id } = (await post("/payments", "new", wanted)).body.payment;
      const capture = await post(`/payments/${id}/capture`, "capture", {});
      const refund = await post(`/payments/${id}/refunds`, "refund", {});
      expect([capture.status, refund.status]).toEqual([201, 201]);
      expect(made).toEqual([Array.from({ length: 3 }, () => `payment:${id}`)]);
    } finally {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    }
  });
});
