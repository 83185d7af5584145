import type { Storage } from "@google-cloud/storage";
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server } from "node:http";
import { connect, type AddressInfo } from "node:net";
import { createGcsClient } from "../../../../../src/infrastructure/gcs/gcs-client";
import { GcsRequests } from "../../../../../src/infrastructure/gcs/gcs-requests";

const servers: Server[] = [];

afterEach(async () => {
  delete process.env["HTTP_PROXY"];
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
    await once(server, "close");
  }
});

async function listen(server: Server): Promise<string> {
  servers.push(server);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Answers each request with its own body, and keeps what it was asked. */
async function echo(): Promise<{ readonly url: string; readonly asked: IncomingMessage[] }> {
  const asked: IncomingMessage[] = [];
  const server = createServer((request, response) => {
    asked.push(request);
    response.writeHead(207, { "x-goog-generation": "7" });
    request.pipe(response);
  });
  return { url: await listen(server), asked };
}

const REQUEST = {
  method: "POST",
  path: "/b",
  query: { name: "a b/c", ifGenerationMatch: 0 },
  headers: { "Content-Type": "text/plain" },
  body: Buffer.from("größe"),
} as const;
const ANSWER = { status: 207, bytes: REQUEST.body };
const ASKED = {
  method: "POST",
  url: expect.stringMatching(/^\/b\?name=a(%20|\+)b%2Fc&ifGenerationMatch=0$/),
};

test("a request goes out under the client's credentials, and its answer comes back as it is", async () => {
  const { url, asked } = await echo();
  const authClient = { getRequestHeaders: async (to: string) => ({ Authorization: `Bearer for ${to}` }) };
  const requests = new GcsRequests({ apiEndpoint: url, authClient }, 5_000, false);
  expect(await requests.send(REQUEST)).toMatchObject(ANSWER);
  expect(asked).toEqual([expect.objectContaining(ASKED)]);
  expect(asked[0]?.headers).toMatchObject({
    authorization: expect.stringContaining(`Bearer for ${url}/b?`),
    "content-type": "text/plain",
  });
  requests.close();
});

test("credentials that never come end a request at its bound", async () => {
  const { url, asked } = await echo();
  const authClient = { getRequestHeaders: () => new Promise(() => {}) };
  const requests = new GcsRequests({ apiEndpoint: url, authClient } as unknown as Storage, 50, false);
  await expect(requests.send(REQUEST)).rejects.toThrow("no answer within 50 ms");
  expect(asked).toEqual([]);
  requests.close();
});

test("where there is a proxy, requests take it", async () => {
  const { url, asked } = await echo();
  const tunnels: (string | undefined)[] = [];
  const proxy = createServer();
  proxy.on("connect", (request, client) => {
    tunnels.push(request.url);
    const upstream = connect(Number(new URL(url).port), "127.0.0.1", () => {
      client.write("HTTP/1.1 200 Connection established\r\n\r\n");
      client.pipe(upstream).pipe(client);
    });
    for (const end of [client, upstream]) end.on("error", () => {});
  });
  process.env["HTTP_PROXY"] = await listen(proxy);
  const client = createGcsClient({ requestTimeoutMs: 5_000, emulatorHost: url });
  const requests = new GcsRequests(client, 5_000, true);
  expect(await requests.send(REQUEST)).toMatchObject(ANSWER);
  expect(tunnels).toEqual([new URL(url).host]);
  expect(asked).toEqual([expect.objectContaining(ASKED)]);
  requests.close();
});
