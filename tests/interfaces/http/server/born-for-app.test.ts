import express, { type Express } from "express";
import { once } from "node:events";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { createHttpServer } from "../../../../src/interfaces/http/server/http-server";

let app: Express;
let server: Server;

beforeEach(async () => {
  app = express();
  server = createHttpServer(app);
  await once(server.listen(0, "127.0.0.1"), "listening");
});
afterEach(() => server.close());

const url = (): string => `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
const prototypesOf = (...objects: object[]): unknown[] => objects.map((one) => Object.getPrototypeOf(one));

it("makes requests and responses with the prototypes that Express would give them later", async () => {
  const born: unknown[] = [];
  const handled: unknown[] = [];
  server.prependListener("request", (request: IncomingMessage, response: ServerResponse) => {
    born.push(...prototypesOf(request, response));
  });
  app.get("/", (request, response) => {
    handled.push(...prototypesOf(request, response));
    response.end();
  });
  await fetch(url());

  expect(handled).toHaveLength(2);
  expect(born[0]).toBe(handled[0]);
  expect(born[1]).toBe(handled[1]);
});

it("leaves Express's own members where handlers look for them", async () => {
  app.get("/", (request, response) => {
    response.status(418).json({ is: request.is("*/*"), app: request.app === app && response.app === app });
  });
  const answer = await fetch(url());

  expect(answer.status).toBe(418);
  expect(await answer.json()).toEqual({ is: null, app: true });
});
