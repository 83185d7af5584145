import { join } from "node:path";
import { FileKeys, HoldfastClient } from "../../../src/client";
import { HoldfastCli } from "../../support/program/holdfast-cli";
import { freePort } from "../../support/servers/own-process";
import { testAtFullSize } from "../../support/servers/servers";

jest.setTimeout(60_000);
const holdfast = new HoldfastCli();
const PAYMENTS = 30;
const KILLS = 3;

testAtFullSize(
  "a client whose server is killed again and again captures each payment once, and learns so",
  async () => {
    const port = String(await freePort());
    const start = () => holdfast.start(["serve", "--port", port, "--log-level", "warn"]);
    const shop = new HoldfastClient(`http://127.0.0.1:${port}`, {
      keys: new FileKeys(join(holdfast.folder, "keys")),
    });
    let server = start();
    await server.url();
    const orders = Array.from({ length: PAYMENTS }, (_, n) => `order ${n}`);
    const ids = await Promise.all(
      orders.map(async (order) => {
        const card = { amount: 1_250, currency: "EUR", paymentMethod: "tok_slow_50" };
        return (await shop.payments.authorize(order, card)).answer.payment.id;
      }),
    );

    const captures = orders.map(async (order, n) => {
      const taken = await shop.payments.capture(`${order}: capture`, ids[n]!);
      return (await taken.waitUntilSettled()).answer.payment.status;
    });
    const ended = Promise.all(captures);
    for (let kill = 0; kill < KILLS; kill += 1) {
      // While some are at the gateway.
      await new Promise((resolve) => setTimeout(resolve, 40));
      expect((await server.end("SIGKILL")).signal).toBe("SIGKILL");
      server = start();
      await server.url();
    }
    expect(await ended).toEqual(orders.map(() => "captured"));

    const times = await Promise.all(
      ids.map(async (paymentId) => {
        const { moves } = await shop.call("listGatewayMoves", { path: { paymentId } });
        return moves.filter(({ kind }) => kind === "capture").length;
      }),
    );
    expect(times).toEqual(Array.from({ length: PAYMENTS }, () => 1));
  },
);
