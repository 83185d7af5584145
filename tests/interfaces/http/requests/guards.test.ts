import type { Request, Response } from "express";
import { z } from "zod";
import {
  UnauthorizedError,
  type AuthenticatedCaller,
} from "../../../../src/application/use-cases/authenticate-caller";
import { InvalidValueError } from "../../../../src/domain/payment/errors";
import { onlyThese } from "../../../../src/interfaces/http/endpoints/mount";
import { RequestError } from "../../../../src/interfaces/http/problems/request-error";
import { authenticated, operatorOnly } from "../../../../src/interfaces/http/requests/authentication";
import { openContext } from "../../../../src/interfaces/http/requests/request-context";
import { idempotencyKeyOf } from "../../../../src/interfaces/http/requests/idempotency-key";
import { isPlainHost, returnUrlIn } from "../../../../src/interfaces/http/requests/return-url";
import { validBody, validQuery } from "../../../../src/interfaces/http/requests/validation";
import {
  amountIn,
  amountOut,
  currencyIn,
  instantIn,
  metadata,
  text,
} from "../../../../src/interfaces/http/requests/wire-values";
import { assertOfThisSite } from "../../../../src/interfaces/http/server/form-of-this-site";
import { isLoopback, refusalToListen } from "../../../../src/interfaces/http/server/listening-rule";

const having = (headers: Record<string, unknown>): Request => ({ headers }) as unknown as Request;

function thrownBy(work: () => unknown): RequestError | InvalidValueError {
  try {
    work();
  } catch (error) {
    if (error instanceof RequestError || error instanceof InvalidValueError) return error;
    throw error;
  }
  throw new Error("nothing was refused");
}

/** The first complaint about a value; null for one that is taken. */
function complaint(schema: z.ZodType, value: unknown): string | null {
  const { success, error } = schema.safeParse(value);
  return success ? null : (error.issues[0]?.message ?? "");
}

describe("the header with the idempotency key", () => {
  const keyOf = (header: unknown) => idempotencyKeyOf(having({ "idempotency-key": header }));

  test.each([
    ["k", "k"],
    ['"k"', "k"],
    [String.raw`"a\"b\\c"`, String.raw`a"b\c`],
    ['a"b', 'a"b'],
  ])("the header with the idempotency key may be bare or quoted: %s", (header, key) => {
    expect(keyOf(header)).toBe(key);
  });

  test.each(['"', '"k', '"k" ', '"a"b"', String.raw`"a\n"`, '"\u00e9"', ["k", "k"]])(
    "the header with the idempotency key is refused where it is neither a word nor a quoted string: %j",
    (header) => {
      expect(thrownBy(() => keyOf(header))).toMatchObject({
        code: "invalid_idempotency_key",
        message: "the Idempotency-Key header must be sent exactly once, bare or as a quoted string",
      });
    },
  );

  test("a request without an idempotency key is told to send one, and what a key is", () => {
    expect(thrownBy(() => idempotencyKeyOf(having({})))).toMatchObject({
      code: "idempotency_key_required",
      message:
        "Send an Idempotency-Key header: a new key for each operation, and the same key whenever you repeat it.",
    });
    for (const header of ['""', '"a b"', "a b"])
      expect(thrownBy(() => keyOf(header)).message).toContain("1 to 255 visible ASCII characters");
  });
});

describe("the URL that a customer comes back to", () => {
  test.each([
    "https://shop.example",
    "https://shop_1.example:8443/back?order=1#x",
    "https://[2001:db8::1]/back",
    "http://localhost:3000/back",
    "http://127.0.0.1/back",
    "http://[::1]/back",
  ])("the URL that a customer comes back to may be over TLS, or on this machine: %s", (url) => {
    expect(complaint(returnUrlIn, url)).toBeNull();
  });

  test.each([
    ["shop.example", "is not an https URL, or http on loopback"],
    ["http://shop.example", "is not an https URL, or http on loopback"],
    ["ftp://localhost/", "is not an https URL, or http on loopback"],
    ["javascript:alert(1)", "is not an https URL, or http on loopback"],
    ["https://user@shop.example", "contains credentials"],
    ["https://:secret@shop.example", "contains credentials"],
    [
      "https://shop;script.example",
      "has a host with characters other than letters, digits, `.`, `-` and `_`",
    ],
    ["https://*.shop.example", "has a host with characters other than letters, digits, `.`, `-` and `_`"],
    [`https://shop.example/${"x".repeat(2_048)}`, "Too big: expected string to have <=2048 characters"],
    ["", "Too small: expected string to have >=1 characters"],
  ])("the URL that a customer comes back to is refused in words: %s", (url, words) => {
    expect(complaint(returnUrlIn, url)).toBe(words);
    expect(returnUrlIn.safeParse(url).error?.issues.filter(({ message }) => message === words)).toHaveLength(
      1,
    );
  });

  test("a URL that is none is told once, and a policy takes no host with a sign of its own meaning", () => {
    for (const url of ["nowhere", "javascript:alert(1)"])
      expect(returnUrlIn.safeParse(url).error?.issues).toHaveLength(1);
    expect(["shop.example", "a-b_c.d"].map(isPlainHost)).toEqual([true, true]);
    expect(["", "a;b", "*.b", "a b", "a.b;"].map(isPlainHost)).toEqual([false, false, false, false, false]);
  });
});

describe("what is wrong with a body or a query", () => {
  const body = z.strictObject({ a: z.int(), "x/y~z": z.string().optional() });

  test("a part of a body is named by its pointer, also below where the body is itself a part", () => {
    expect(validBody(body, { a: 1 })).toEqual({ a: 1 });
    expect(thrownBy(() => validBody(body, { a: "1", "x/y~z": 2, b: 1, c: 2 }, ["items", 0]))).toMatchObject({
      code: "invalid_request",
      message: "The body is not valid.",
      facts: {
        errors: [
          { pointer: "/items/0/a", detail: "Invalid input: expected number, received string" },
          { pointer: "/items/0/x~1y~0z", detail: "Invalid input: expected string, received number" },
          { pointer: "/items/0/b", detail: "is not recognized" },
          { pointer: "/items/0/c", detail: "is not recognized" },
        ],
      },
    });
  });

  test("no more than twenty parts are told, each in at most two hundred characters", () => {
    const many = z.array(z.int());
    const facts = (sent: unknown, schema: z.ZodType = many) =>
      (thrownBy(() => validBody(schema, sent)) as RequestError).facts.errors!;
    expect(facts(Array.from({ length: 30 }, () => ""))).toHaveLength(20);
    const name = "n".repeat(250);
    expect(facts({ [name]: 1 }, z.strictObject({}))[0]?.pointer).toBe(`/${"n".repeat(199)}…`);
    const exact = "n".repeat(199);
    expect(facts({ [exact]: 1 }, z.strictObject({}))[0]?.pointer).toBe(`/${exact}`);
    const wordy = z.string().refine(() => false, "w".repeat(201));
    expect(facts("", wordy)[0]?.detail).toBe(`${"w".repeat(200)}…`);
  });

  test("in a query, limits and waits are numbers and everything else is text; a parameter may have a code of its own", () => {
    const query = z.strictObject({
      limit: z.int().max(100).optional(),
      wait: z.int().optional(),
      after: z.string().optional(),
      page: z.int().optional(),
    });
    expect(validQuery(query, { limit: "10", wait: "0", after: "10" })).toEqual({
      limit: 10,
      wait: 0,
      after: "10",
    });
    const codes = { limit: "invalid_limit", wait: "invalid_wait" } as const;
    const refused = (sent: Record<string, unknown>) => thrownBy(() => validQuery(query, sent, codes));
    expect(refused({ limit: "101" })).toMatchObject({
      code: "invalid_limit",
      message: "The query is not valid.",
    });
    for (const wait of ["", "1.5", "-1", "x1", "1x", "1234567890", ["1"]])
      expect(refused({ wait }).code).toBe("invalid_wait");
    expect(refused({ page: "1", wait: "x" })).toMatchObject({
      code: "invalid_wait",
      facts: { errors: [{ parameter: "wait" }, { parameter: "page" }] },
    });
    expect(refused({ page: "1" })).toMatchObject({ code: "invalid_request" });
    const waitAlone = () => validQuery(query, { limit: "101", wait: "x" }, { wait: "invalid_wait" });
    expect(thrownBy(waitAlone).code).toBe("invalid_wait");
    const nested = z.strictObject({ a: z.strictObject({ b: z.int() }) });
    expect(thrownBy(() => validQuery(nested, { a: { b: "x" } }))).toMatchObject({
      facts: { errors: [{ parameter: "a.b" }] },
    });
    expect(thrownBy(() => validQuery(query, { limit: "x" })).code).toBe("invalid_request");
  });
});

describe("a value on the wire", () => {
  test.each([
    ["an amount", amountIn, 1, 1n],
    ["the largest amount", amountIn, 999_999_999_999, 999_999_999_999n],
    ["a currency", currencyIn, "eur", "EUR"],
    ["an instant", instantIn, "2026-03-04T13:00:00+01:00", new Date("2026-03-04T12:00:00Z")],
    ["a text", text(3), "a é", "a é"],
    ["metadata", metadata, { order: "" }, { order: "" }],
    ["a total", amountOut, 0, 0],
  ] as const)("a value on the wire is read as what it is: %s", (_, schema, sent, read) => {
    expect((schema as z.ZodType).parse(sent)).toEqual(read);
  });

  test.each([
    ["no amount", amountIn, 0, "Too small: expected number to be >=1"],
    ["an amount above all", amountIn, 1_000_000_000_000, "Too big: expected number to be <=999999999999"],
    ["a broken amount", amountIn, 1.5, "Invalid input: expected int, received number"],
    ["a total below zero", amountOut, -1, "Too small: expected number to be >=0"],
    ["a total above all", amountOut, 1_000_000_000_000, "Too big: expected number to be <=999999999999"],
    ["a word for a currency", currencyIn, "euro", "is not three letters"],
    [
      "a currency without a minor unit",
      currencyIn,
      "XAU",
      "is not an ISO 4217 currency code with a minor unit",
    ],
    ["an instant without an offset", instantIn, "2026-03-04T12:00:00", "Invalid ISO datetime"],
    ["a text with a control character", text(9), "a\u0000", "contains characters that cannot be printed"],
    ["a text with half a character", text(9), "\ud800", "contains characters that cannot be printed"],
    ["no text", text(9), "", "Too small: expected string to have >=1 characters"],
    ["a long text", text(3), "abcd", "Too big: expected string to have <=3 characters"],
    ["metadata in control characters", metadata, { a: "\n" }, "contains characters that cannot be printed"],
    ["long metadata", metadata, { a: "x".repeat(501) }, "Too big: expected string to have <=500 characters"],
    [
      "much metadata",
      metadata,
      Object.fromEntries(Array.from({ length: 51 }, (_, n) => [`k${n}`, ""])),
      "has more than 50 entries",
    ],
    ["metadata without a name", metadata, { "": "a" }, "Invalid key in record"],
    ["metadata with a long name", metadata, { ["n".repeat(65)]: "a" }, "Invalid key in record"],
  ] as const)("a value on the wire is refused in words: %s", (_, schema, sent, words) => {
    expect(complaint(schema as z.ZodType, sent)).toBe(words);
  });

  test("as much metadata as is allowed is taken", () => {
    const entries = Array.from({ length: 50 }, (_, n) => [`${n}`.padStart(64, "k"), "x".repeat(500)]);
    expect(complaint(metadata, Object.fromEntries(entries))).toBeNull();
  });
});

describe("a form", () => {
  const OWN = "https://pay.example/base";
  const from = (headers: Record<string, string>) => () =>
    assertOfThisSite(having({ host: "inside:8080", ...headers }), OWN);

  test.each([
    {},
    { origin: "https://pay.example" },
    { origin: "http://inside:8080" },
    { origin: "https://pay.example", "sec-fetch-site": "same-origin" },
    { "sec-fetch-site": "same-origin" },
  ])("a form is taken from this server's own page, and from what is no browser: %j", (headers) => {
    expect(from(headers)).not.toThrow();
  });

  test.each([
    { origin: "https://evil.example" },
    { origin: "http://pay.example" },
    { origin: "null" },
    { origin: "" },
    { origin: "https://pay.example", "sec-fetch-site": "cross-site" },
    { "sec-fetch-site": "same-site" },
    { "sec-fetch-site": "none" },
  ])("a form of another site is refused, with what a proxy may have to do with it: %j", (headers) => {
    expect(thrownBy(from(headers))).toMatchObject({
      code: "form_of_another_site",
      message:
        "This form is accepted from its own page only. If it came from there, a proxy has replaced the Host header: let " +
        "it pass the header on, or start the server with --advertise and the URL that browsers use.",
    });
  });
});

describe("where a server listens", () => {
  test("this machine alone reaches loopback, however that is written", () => {
    for (const host of [
      "127.0.0.1",
      "127.9.9.9",
      "::1",
      "[::1]",
      "localhost",
      "LOCALHOST",
      "::ffff:127.0.0.1",
      "::FFFF:127.0.0.1",
    ])
      expect([host, isLoopback(host)]).toEqual([host, true]);
    for (const host of [
      "0.0.0.0",
      "::",
      "10.0.0.1",
      "128.0.0.1",
      "::ffff:10.0.0.1",
      "127.example",
      "localhost.example",
      "[::1",
      "::1]",
      "::2",
      "x[::1]",
    ])
      expect([host, isLoopback(host)]).toEqual([host, false]);
  });

  test("a server that everybody could move money on does not listen where everybody reaches it", () => {
    expect(refusalToListen("127.0.0.1", false)).toBeNull();
    expect(refusalToListen("0.0.0.0", true)).toBeNull();
    expect(refusalToListen("0.0.0.0", false)).toBe(
      "refusing to listen on 0.0.0.0: there is no API key yet, so anyone who reaches the server could move money. " +
        "Create one with `holdfast keys create --merchant <name> --operator`, or listen on 127.0.0.1.",
    );
  });
});

test("a method that a path does not have is refused with those that it has, HEAD beside GET", () => {
  const refuse = onlyThese(["get", "post"]) as () => void;
  expect(thrownBy(refuse)).toMatchObject({
    code: "method_not_allowed",
    message: "This route supports GET, HEAD, POST.",
    facts: { allow: ["GET", "HEAD", "POST"] },
  });
});

describe("what the document says of a value", () => {
  test.each([
    [amountIn, "In the currency's ISO 4217 minor unit: 1250 is 12.50 EUR, 12.50 HUF, 1250 JPY or 1.250 KWD."],
    [
      currencyIn,
      "An ISO 4217 currency code (list one, 2026-09-17) with a minor unit, in upper or lower case.",
    ],
    [instantIn, "ISO 8601 with an offset or Z."],
    [metadata, "Up to 50 entries of your own, name to text."],
    [
      returnUrlIn,
      "Where the customer comes back to, if the gateway sends them to a page of its own: https, or http on loopback. " +
        "Without it, a card that needs this is declined (`authentication_required`).",
    ],
  ])("is how it is meant: %#", (schema, description) => {
    expect((schema as z.ZodType).meta()).toMatchObject({ description });
  });

  test("has the most entries of metadata, which its schema cannot say", () => {
    expect(metadata.meta()).toMatchObject({ maxProperties: 50 });
  });
});

describe("who asks", () => {
  const behind = async (
    execute: (secret: string | null) => Promise<AuthenticatedCaller>,
    header?: string,
  ) => {
    const request = having(header === undefined ? {} : { authorization: header });
    const response = { locals: {} } as unknown as Response;
    const context = openContext(request, response);
    await authenticated({ execute })(request, response, () => undefined);
    return { context, response };
  };
  const known = { merchant: "acme", operator: false, keyId: "key-1" } as unknown as AuthenticatedCaller;

  test.each([
    ["Bearer hf_1", "hf_1"],
    ["bearer  hf_1 ", "hf_1"],
    ["Basic hf_1", null],
    ["Bearer a b", null],
    ["", null],
    [undefined, null],
  ])("who asks is known by the key alone: %j", async (header, secret) => {
    const asked: (string | null)[] = [];
    await behind(async (sent) => {
      asked.push(sent);
      return known;
    }, header);
    expect(asked).toEqual([secret]);
  });

  test("whether they are still known is asked anew; a store that fails is no answer to that", async () => {
    let answer: () => AuthenticatedCaller = () => known;
    const { context } = await behind(async () => answer(), "Bearer hf_1");
    await expect(context.isStillKnown?.()).resolves.toBe(true);
    answer = () => {
      throw new UnauthorizedError();
    };
    await expect(context.isStillKnown?.()).resolves.toBe(false);
    answer = () => {
      throw new Error("the store is gone");
    };
    await expect(context.isStillKnown?.()).rejects.toThrow("the store is gone");
  });

  test("who is no operator is told so", async () => {
    const { response } = await behind(async () => known);
    const next = jest.fn();
    expect(thrownBy(() => operatorOnly(having({}), response, next))).toMatchObject({
      code: "operator_key_required",
      message: "This route requires an operator key.",
    });
    expect(next).not.toHaveBeenCalled();
  });
});
