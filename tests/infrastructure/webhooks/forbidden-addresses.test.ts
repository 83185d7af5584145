import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { isIPv6 } from "node:net";
import type { AttemptOutcome } from "../../../src/application/ports/events/webhook-sender";
import { WebhookError } from "../../../src/domain/webhooks/errors";
import { refusalOfAddress } from "../../../src/infrastructure/webhooks/address-rules";
import { GuardedDestinations } from "../../../src/infrastructure/webhooks/guarded-destinations";
import type { Resolve } from "../../../src/infrastructure/webhooks/guarded-lookup";
import { UndiciWebhookSender } from "../../../src/infrastructure/webhooks/undici-webhook-sender";
import { CountingListener } from "../../support/receivers/counting-listener";
import { forbiddenAnswers, forbiddenHosts, metadataHosts } from "./forbidden-addresses";

const CLOSED = { http: true, private: false };
const OPEN = { http: true, private: true };
const PUBLIC = "93.184.216.34";
const families = (address: string) => [{ address, family: isIPv6(address) ? 6 : 4 }];
const answering =
  (...answers: readonly string[]): Resolve =>
  (_host, done) =>
    done(null, answers.flatMap(families));

describe("where no webhook goes", () => {
  let listener: CountingListener;
  beforeAll(async () => {
    listener = await CountingListener.open();
  });
  afterAll(() => listener.close());
  afterEach(() => {
    expect(listener.connections).toBe(0);
  });

  const urlOf = (host: string) => `http://${host}:${listener.port}/hooks`;
  const hosts = [...forbiddenHosts.map(({ host }) => host), ...metadataHosts];

  it("is spelled in more than 60 ways", () => {
    expect(new Set(hosts).size).toBeGreaterThan(60);
  });

  describe.each(hosts)("%s", (host) => {
    it("is refused when an endpoint is made, in words", async () => {
      const refused = await refusalOf(new GuardedDestinations(CLOSED), urlOf(host));
      expect(refused).toMatchObject({
        code: expect.stringMatching(/^webhook_url_(address_forbidden|malformed)$/),
      });
      expect(refused.message).toMatch(/No webhook can be sent there: .+ is an? |not one that a webhook/);
    });

    it("is refused when something is delivered", async () => {
      await sending(new UndiciWebhookSender(CLOSED), urlOf(host), (outcome) => {
        expect(outcome).toMatchObject({ result: "failed", status: null, failure: "address_forbidden" });
      });
    });

    it("is not followed to when a receiver says so", async () => {
      const { url, close } = await redirecting(urlOf(host));
      try {
        // The receiver is on this host: it is let in here, so that nothing but the redirect is judged.
        await sending(new UndiciWebhookSender(OPEN), url, (outcome) => {
          expect(outcome).toMatchObject({ result: "failed", status: 307, failure: "status" });
        });
      } finally {
        await close();
      }
    });
  });

  it.each([...new Set(forbiddenAnswers)])("is what a name leads to: %s", async (address) => {
    const resolve = answering(address);
    const url = urlOf("hooks.example.com");
    expect(await refusalOf(new GuardedDestinations(CLOSED, resolve), url)).toMatchObject({
      code: "webhook_url_address_forbidden",
      message: expect.stringContaining(`hooks.example.com leads to ${address}`),
    });
    await sending(new UndiciWebhookSender(CLOSED, { resolve }), url, ({ failure }) => {
      expect(failure).toBe("address_forbidden");
    });
  });

  it.each([...new Set(forbiddenAnswers)])(
    "is what a name leads to after it was looked at, or beside a public address: %s",
    async (address) => {
      let asked = 0;
      const rebinding: Resolve = (_host, done) =>
        done(null, (asked += 1) === 1 ? families(PUBLIC) : families(address));
      const url = urlOf("hooks.example.com");
      await expect(new GuardedDestinations(CLOSED, rebinding).assertAllowed(url)).resolves.toBe(url);
      await sending(new UndiciWebhookSender(CLOSED, { resolve: rebinding }), url, ({ failure }) => {
        expect(failure).toBe("address_forbidden");
      });
      const beside = answering(PUBLIC, address);
      await sending(new UndiciWebhookSender(CLOSED, { resolve: beside }), url, ({ failure }) => {
        expect(failure).toBe("address_forbidden");
      });
    },
  );

  it.each(metadataHosts)(
    "is a metadata service even where private addresses are allowed: %s",
    async (host) => {
      expect(await refusalOf(new GuardedDestinations(OPEN), urlOf(host))).toMatchObject({
        code: "webhook_url_address_forbidden",
        message: expect.stringMatching(/metadata service\. No setting allows it\.$/),
      });
      await sending(new UndiciWebhookSender(OPEN), urlOf(host), ({ failure }) => {
        expect(failure).toBe("address_forbidden");
      });
    },
  );
});

describe("where webhooks go", () => {
  it("is reached in each spelling of this host, once an operator allows that: the listener above would have counted", async () => {
    const reached = forbiddenHosts.filter((one) => one.here === true && !/^(%31|１|①|127。)/.test(one.host));
    for (const { host } of reached) {
      const listener = await CountingListener.open();
      const url = `http://${host}:${listener.port}/`;
      await sending(new UndiciWebhookSender(OPEN), url, (outcome) => {
        expect({ host, ...outcome }).toMatchObject({ host, result: "delivered" });
      });
      expect(listener.connections).toBe(1);
      await listener.close();
    }
  });

  it.each([
    "1.1.1.1",
    "93.184.216.34",
    "100.63.255.255",
    "100.128.0.1",
    "172.15.255.255",
    "172.32.0.1",
    "192.167.255.255",
    "192.169.0.1",
    "223.255.255.255",
    "2606:4700:4700::1111",
    "2a00:1450:4001:830::200e",
    "2001:4860:4860::8888",
  ])("is the public Internet: %s", (address) => {
    expect(refusalOfAddress(address, CLOSED)).toBeNull();
  });
});

async function refusalOf(destinations: GuardedDestinations, url: string): Promise<WebhookError> {
  try {
    await destinations.assertAllowed(url);
  } catch (error) {
    if (error instanceof WebhookError) return error;
    throw error;
  }
  throw new Error(`${url} was allowed`);
}

async function sending(
  sender: UndiciWebhookSender,
  url: string,
  check: (outcome: AttemptOutcome) => void,
): Promise<void> {
  try {
    check(await sender.send({ url, headers: {}, body: "{}" }));
  } finally {
    await sender.close();
  }
}

async function redirecting(to: string): Promise<{ url: string; close: () => Promise<void> }> {
  const location = new URL(to).href;
  const server: Server = createServer((_request, response) => {
    response.writeHead(307, { location }).end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/`,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
