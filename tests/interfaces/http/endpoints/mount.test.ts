import express, { type ErrorRequestHandler, type RequestHandler } from "express";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { z } from "zod";
import { endpoint, type Endpoint } from "../../../../src/interfaces/http/endpoints/endpoint";
import { mount } from "../../../../src/interfaces/http/endpoints/mount";
import { openContext } from "../../../../src/interfaces/http/requests/request-context";
import { toldError } from "../../../../src/interfaces/http/problems/problem-details";
import { RequestError } from "../../../../src/interfaces/http/problems/request-error";

const planted = {
  tag: "Service",
  summary: "Planted",
  access: "open",
  answers: { 200: { description: "Planted.", schema: z.looseObject({}) } },
  problems: [],
} as const;

const problem = toldError(new RequestError("malformed_request", "Planted."));
let ended: string[];

const endpoints: readonly Endpoint<unknown>[] = [
  endpoint()({
    ...planted,
    method: "get",
    path: "/planted/problem",
    operationId: "problem",
    problemPage: ({ code }, requestId) => `<p>${code} ${requestId}</p>`,
    handle: () => ({ problem }),
  }),
  endpoint()({
    ...planted,
    method: "get",
    path: "/planted/chunks",
    operationId: "chunks",
    handle: () => ({
      status: 200,
      contentType: "text/plain",
      chunks: (async function* () {
        yield "one ";
        yield "two";
      })(),
      end: () => void ended.push("chunks"),
    }),
  }),
  endpoint()({
    ...planted,
    method: "post",
    path: "/planted/accounts/:gatewayAccount",
    operationId: "account",
    body: z.strictObject({ a: z.int() }),
    audited: true,
    handle: ({ ids, body }) => ({ status: 200, body: { ...ids, ...body } }),
  }),
  endpoint()({
    ...planted,
    method: "post",
    path: "/planted/unaudited",
    operationId: "unaudited",
    handle: () => ({ status: 200, body: {} }),
  }),
];

const knowCaller: RequestHandler = (_request, _response, next) => next();
const tellError: ErrorRequestHandler = ({ code, message }: RequestError, _request, response, _next) => {
  response.status(400).json({ code, message });
};

let server: Server;
beforeEach(async () => {
  ended = [];
  const app = express();
  app.use((request, response, next) => {
    openContext(request, response);
    next();
  });
  mount(app, endpoints, {}, knowCaller);
  app.use(tellError);
  server = createServer(app);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
});
afterEach(() => {
  server.closeAllConnections();
  server.close();
});

async function sent(path: string, init: RequestInit = {}) {
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/planted${path}`;
  const answer = await fetch(url, init);
  return { status: answer.status, type: answer.headers.get("content-type"), text: await answer.text() };
}
const post = (body: string, headers: Record<string, string> = {}): RequestInit => ({
  method: "POST",
  body,
  headers: { "content-type": "application/json", ...headers },
});

test("a report that is a problem is answered as one, and as a page to who would rather have that", async () => {
  const asked = await sent("/problem");
  expect(asked).toMatchObject({ status: 400, type: "application/problem+json; charset=utf-8" });
  expect(JSON.parse(asked.text)).toMatchObject({ code: "malformed_request", detail: "Planted." });
  const browsed = await sent("/problem", { headers: { accept: "text/html", "x-request-id": "r1" } });
  expect(browsed).toEqual({
    status: 400,
    type: "text/html; charset=utf-8",
    text: "<p>malformed_request r1</p>",
  });
});

test("an answer in chunks is sent as they come, and then its end is told", async () => {
  expect(await sent("/chunks")).toEqual({ status: 200, type: "text/plain", text: "one two" });
  expect(ended).toEqual(["chunks"]);
});

test("what is named in the path is read before the reason, and the reason before the body", async () => {
  const wrong = { "holdfast-reason": "100%" };
  const account = async (path: string, init: RequestInit) =>
    JSON.parse((await sent(path, init)).text) as object;
  expect(await account("/accounts/No%20account", post("{", wrong))).toEqual({
    code: "route_not_found",
    message: "There is no such route.",
  });
  expect(await account("/accounts/acct_1", post("{", wrong))).toMatchObject({ code: "invalid_request" });
  expect(await account("/accounts/acct_1", post("{"))).toMatchObject({ code: "malformed_json" });
  expect(await account("/accounts/acct_1", post('{"a":1}'))).toEqual({ gatewayAccount: "acct_1", a: 1 });
});

test("a reason is nothing to an endpoint that keeps none", async () => {
  expect((await sent("/unaudited", post("", { "holdfast-reason": "100%" }))).status).toBe(200);
});

test("endpoints below one first segment have one access, or nothing is mounted", () => {
  const other = { ...endpoints[0]!, path: "/planted/other", access: "operator" } as const;
  expect(() => mount(express.Router(), [...endpoints, other], {}, knowCaller)).toThrow(
    "/planted/problem differs in its access",
  );
});
