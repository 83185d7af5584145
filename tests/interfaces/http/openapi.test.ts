import type { Router } from "express";
import { Registry } from "prom-client";
import { examples, type ExampleName } from "../../../src/interfaces/http/openapi/examples";
import { publicEventTypes } from "../../../src/application/public-events/public-event";
import { documentedEndpoints } from "../../../src/interfaces/http/endpoints/documented-endpoints";
import { createHttpApp } from "../../../src/interfaces/http/http-app";
import { problemCodes } from "../../../src/interfaces/http/problems/problem-table";
import { loseAnswers } from "../../support/fakes/lost-answers";
import { document, violations, type OpenApiOperation } from "../../support/documented-answers";
import { Gate } from "../../support/fakes/gate";
import { eventually } from "../../support/program/holdfast-cli";
import { HttpWorld, type HttpAnswer } from "../../support/worlds/http-world";

const operations: OpenApiOperation[] = Object.values(document.paths).flatMap((path) => Object.values(path));

describe("the document", () => {
  test("the document is OpenAPI 3.1 in its structure", () => {
    expect(document.openapi).toMatch(/^3\.1\.\d+$/);
    expect(document.info).toMatchObject({ title: expect.any(String), version: expect.any(String) });
    for (const [path, methods] of Object.entries(document.paths)) {
      expect(path).toMatch(/^\//);
      for (const [method, operation] of Object.entries(methods)) {
        expect(["get", "post", "patch", "delete"]).toContain(method);
        const declared = (operation.parameters ?? [])
          .filter((one) => one.in === "path")
          .map(({ name }) => name);
        expect(declared).toEqual([...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name));
        expect([[], [{ apiKey: [] }]]).toContainEqual(operation.security);
        for (const [status, response] of Object.entries(operation.responses)) {
          expect(status).toMatch(/^[1-5]\d\d$/);
          expect(response.description).not.toBe("");
          expect(Object.keys(response.content)).not.toEqual([]);
        }
      }
    }
    const ids = operations.map(({ operationId }) => operationId);
    expect(new Set(ids).size).toBe(ids.length);
  });

  test("the document refers only to what it has", () => {
    const references = [...JSON.stringify(document).matchAll(/"\$ref":"([^"]+)"/g)].map(([, to]) => to);
    expect(references.length).toBeGreaterThan(0);
    for (const reference of new Set(references)) {
      const [hash, components, kind, name] = (reference ?? "").split("/");
      expect({ hash, components }).toEqual({ hash: "#", components: "components" });
      const all = document.components as unknown as Record<string, Record<string, object>>;
      expect(all[kind ?? ""]?.[name ?? ""]).toBeDefined();
    }
  });

  test("the document has schemas that are valid JSON Schema 2020-12, and examples that follow them", () => {
    for (const { requestBody, responses, parameters } of operations) {
      for (const { schema } of parameters ?? []) violations(schema, "anything");
      const contents = [requestBody, ...Object.values(responses)].flatMap((part) =>
        Object.values(part?.content ?? {}),
      );
      for (const { schema, examples: shown = {} } of contents) {
        if (schema === undefined) continue;
        for (const [name, { value }] of Object.entries(shown)) {
          // One example shows an unknown field.
          const wrong = name === "invalid" && !("code" in (value as object));
          expect({ name, wrong: violations(schema, value).length > 0 }).toEqual({ name, wrong });
        }
      }
    }
  });

  test("the document describes each type of event that is posted to webhook endpoints, by the schema of the feed", () => {
    const { webhooks } = document as unknown as { webhooks: Record<string, { post: object }> };
    expect(Object.keys(webhooks)).toEqual([...publicEventTypes]);
    for (const [type, { post }] of Object.entries(webhooks)) {
      expect(JSON.stringify(post)).toContain('"$ref":"#/components/schemas/Event"');
      expect(JSON.stringify(post)).toContain(`{"const":"${type}"}`);
    }
  });

  test("the document names every problem code that some route answers with", () => {
    const named = new Set(documentedEndpoints.flatMap(({ problems }) => problems));
    // Answered on every route, told by the assembler, or not tied to a route at all.
    const general = [
      "unauthorized",
      "operator_key_required",
      "invalid_request",
      "malformed_json",
      "malformed_request",
      "unsupported_media_type",
      "body_too_large",
      "method_not_allowed",
      "service_unavailable",
      "internal_error",
      "route_not_found",
      "request_timeout",
      "headers_too_large",
      // In results of POST /captures alone.
      "capture_not_begun",
      // By the files of /docs alone.
      "precondition_failed",
    ];
    const missing = problemCodes.filter((code) => !named.has(code) && !general.includes(code));
    expect(missing).toEqual([]);
  });

  test("the document describes each route of the app, and no other but the files of its page", () => {
    const whole = {
      readiness: {},
      lifecycle: {},
      webhooks: {},
      sandboxes: {},
      gatewayMoves: {},
      customerPages: {},
      gatewayEvents: { receiveGatewayEvent: {}, receiveAccountEvent: {}, catchUp: {} },
      metrics: new Registry(),
    };
    const app = createHttpApp(whole as never);
    const routed = routesOf(app.router).filter((route) => !route.includes(" /docs/"));
    expect(routed.sort()).toEqual(documentedEndpoints.map(({ method, path }) => `${method} ${path}`).sort());
  });

  test("the document is served", async () => {
    const http = await new HttpWorld().open();
    const answer = await http.get("/openapi.json");
    await http.close();
    expect(answer.body).toEqual(document);
  });
});

describe("each example is answered as it is documented", () => {
  let http: HttpWorld;
  beforeEach(async () => {
    http = await new HttpWorld().open();
  });
  afterEach(() => http.close());

  const card = { amount: 1250, reference: "order-1042", metadata: { basket: "7" } };
  const post = (path: string, body?: object) =>
    http.call("POST", path, { body, headers: { "idempotency-key": "of-the-example" } });
  const captureOf = async (body: object | undefined, paymentMethod = "tok_ok") =>
    post(`/payments/${await http.authorize({ ...card, paymentMethod })}/capture`, body);

  const refundOf = async (body: object | undefined) => {
    const id = await http.authorize(card);
    await http.capture(id, "k");
    return post(`/payments/${id}/refunds`, body);
  };
  const inReview = async () => {
    const id = await http.authorize({ ...card, paymentMethod: "tok_timeout_captured" });
    const { body } = await http.capture(id, "k");
    http.world.clock.advance(2_000);
    const evidence = "captured with another amount: 12.00 EUR";
    http.world.gateway.next("find", async () => ({ outcome: "mismatch", evidence }));
    await http.capture(id, "k");
    return body.capture.id as string;
  };

  /** What has to be there first, and how it is sent. An example without an entry does not compile. */
  const send: Record<ExampleName, (body: object | undefined) => Promise<HttpAnswer>> = {
    card: (body) => post("/payments", body),
    silent: (body) => post("/payments", body),
    customer: (body) => post("/payments", body),
    declined: (body) => post("/payments", body),
    invalid: (body) => post("/payments", body),
    import: (body) => post("/payments", body),
    importedBefore: async (body) => {
      await http.call("POST", "/payments", { body, headers: { "idempotency-key": "another" } });
      return post("/payments", body);
    },
    page: async () => {
      await http.authorize(card);
      return http.get("/payments");
    },
    authorized: async () => http.get(`/payments/${await http.authorize(card)}`),
    history: async () => http.get(`/payments/${await http.authorize(card)}/events`),
    all: (body) => captureOf(body),
    part: (body) => captureOf(body),
    unanswered: (body) => captureOf(body, "tok_timeout_not_captured"),
    decidedLater: (body) => captureOf(body, "tok_capture_pending"),
    many: async () => {
      const paymentId = await http.authorize(card);
      const unknown = "018f3a9e-0000-7000-8000-000000000000";
      const captures = [
        { paymentId, idempotencyKey: "order-1042", amount: 1250 },
        { paymentId: unknown, idempotencyKey: "order-1043" },
      ];
      return http.call("POST", "/captures", { body: { captures } });
    },
    tooLate: async (body) => {
      const id = await http.authorize(card);
      await http.capture(id, "another");
      return post(`/payments/${id}/capture`, body);
    },
    tooMuch: (body) => captureOf(body),
    mayBeStored: async (body) => {
      const id = await http.authorize(card);
      loseAnswers(http.world);
      return post(`/payments/${id}/capture`, body);
    },
    void: async (body) => post(`/payments/${await http.authorize(card)}/void`, body),
    notVoidable: async (body) => {
      const id = await http.authorize(card);
      await http.capture(id, "k");
      return post(`/payments/${id}/void`, body);
    },
    refund: (body) => refundOf(body),
    refundAll: (body) => refundOf(body),
    refundTooMuch: (body) => refundOf(body),
    waiting: async () => {
      await inReview();
      return http.get("/reviews");
    },
    moved: async (body) => http.call("POST", `/reviews/${await inReview()}`, { body }),
    stillPending: async (body) => {
      const id = await inReview();
      http.world.gateway.answersQuestions({ outcome: "pending" });
      return http.call("POST", `/reviews/${id}`, { body });
    },
    contradicted: async (body) => http.call("POST", `/reviews/${await inReview()}`, { body }),
    reviewHistory: async () => {
      const id = await inReview();
      const evidence = "The gateway's dashboard shows the capture of 12.50 EUR, at 12:00:01.";
      await http.call("POST", `/reviews/${id}`, { body: { outcome: "moved", evidence } });
      return http.get(`/reviews/${id}`);
    },
    decidedBefore: async (body) => {
      const id = await inReview();
      await http.call("POST", `/reviews/${id}`, { body: { outcome: "moved", evidence: "seen" } });
      return http.call("POST", `/reviews/${id}`, { body });
    },
    auditedVerdict: async () => {
      const evidence = "The gateway's dashboard shows the capture of 12.50 EUR, at 12:00:01.";
      await http.call("POST", `/reviews/${await inReview()}`, { body: { outcome: "moved", evidence } });
      return http.get("/audit");
    },
    failedLater: async () => {
      const id = await http.authorize({ ...card, paymentMethod: "tok_refund_fails_later_1000" });
      await http.capture(id, "k");
      await post(`/payments/${id}/refunds`, {});
      http.world.clock.advance(1_000);
      return http.call("POST", `/gateway/payments/${id}/observe`);
    },
    told: async () => {
      await http.authorize(card);
      return http.get("/events");
    },
    once: async () => {
      const id = await http.authorize(card);
      await http.capture(id, "k");
      return http.get(`/gateway/payments/${id}`);
    },
    queue: async () => {
      const inside = new Gate();
      const id = await http.authorize(card);
      http.world.gateway.next("capture", async (real) => inside.passed.then(real));
      const captures = ["one", "another"].map((key) => http.capture(id, key));
      const answer = await eventually(
        () => http.get("/locks"),
        ({ body }) => body.data[0]?.waiting === 1,
      );
      inside.open();
      await Promise.all(captures);
      return answer;
    },
    alive: () => http.get("/healthz"),
    ready: () => http.get("/readyz"),
  };

  test.each(examples.map((example) => [example.name, example] as const))(
    'the example "%s" is what the server answers',
    async (name, example) => {
      const answer = await send[name]("body" in example ? example.body : undefined);
      expect(answer.status).toBe(example.status);
      expect(withoutChance(answer.body)).toEqual(withoutChance(example.answer));
    },
  );
});

/** Ids, instants, tokens and the marks of cursors are other ones each time; everything else is as documented. */
function withoutChance(body: unknown): unknown {
  const text = JSON.stringify(body)
    .replace(/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, "<id>")
    .replace(/"\d{4}-\d\d-\d\dT[\d:.]+Z"/g, '"<instant>"')
    .replace(/http:\/\/127\.0\.0\.1:\d+/g, "<url>")
    .replace(/(?<=[?]secret=)[\w-]+/g, "<secret>")
    .replace(/"fencingToken":"\d+"/g, '"fencingToken":"<token>"')
    .replace(/(?<="nextCursor":")[\w-]+/, (cursor) => {
      const content = Buffer.from(cursor, "base64url").toString("latin1");
      return content.replace(/(?<=^e\d+\.)[\w-]{8}$/, "<mark>");
    });
  return JSON.parse(text);
}

function routesOf(router: Router): string[] {
  return router.stack.flatMap(({ route }) => {
    const methods = new Set(
      route?.stack.map(({ method }) => method).filter((method) => method !== undefined),
    );
    return [...methods].map((method) => `${method} ${route?.path}`);
  });
}
