import type { Request, Response } from "express";
import { PassThrough } from "node:stream";
import { bodyBytes, jsonBody } from "../../../../src/interfaces/http/requests/json-body";

/** What a body is read as, or the code of its refusal. */
async function read(text: string): Promise<unknown> {
  const headers = { "content-length": String(Buffer.byteLength(text)), "content-type": "application/json" };
  const request = Object.assign(new PassThrough(), { headers, is: () => "application/json" });
  request.end(text);
  try {
    await jsonBody()(request as unknown as Request, {} as Response, () => undefined);
    return (request as unknown as Request).body;
  } catch (error) {
    return (error as { code: unknown }).code;
  }
}

test("a body is read as the JSON that it is, and none at all as an empty object", async () => {
  expect(await read('{"a":"\\u00e9","b":[1]}')).toEqual({ a: "é", b: [1] });
  expect(await read("")).toEqual({});
  expect(await read("{")).toBe("malformed_json");
});

test("a body that names __proto__ is refused, however that is written and however deep", async () => {
  for (const body of [
    '{"__proto__":{}}',
    '{"a":{"__proto__":1}}',
    '{"\\u005f_proto__":{}}',
    '{"a":[{"_\\u005Fproto__":1}]}',
  ])
    expect(await read(body)).toBe("malformed_json");
});

test("a request without a body needs no type, and goes on at once", async () => {
  const request = { headers: { "content-length": "0" }, is: () => false } as unknown as Request;
  const next = jest.fn();
  await jsonBody()(request, {} as Response, next);
  expect([request.body, next.mock.calls]).toEqual([{}, [[]]]);
});

describe("a body that somebody before us has read", () => {
  const readBefore = (body: unknown) => {
    const headers = { "content-length": "7", "content-type": "application/json" };
    return { headers, is: () => "application/json", readableEnded: true, body } as unknown as Request;
  };

  test("is what they have left", async () => {
    const request = readBefore({ a: 1 });
    const next = jest.fn();
    await jsonBody()(request, {} as Response, next);
    expect([request.body, next.mock.calls]).toEqual([{ a: 1 }, [[]]]);
  });

  test("is gone if they have left nothing, and whoever mounts us is told", async () => {
    const next = jest.fn();
    const reading = jsonBody()(readBefore(undefined), {} as Response, next);
    await expect(reading).rejects.toThrow("mount Holdfast before whatever reads bodies");
    expect(next).not.toHaveBeenCalled();
  });
});

describe("a body that is refused", () => {
  interface Sent {
    readonly text?: string;
    readonly headers?: Record<string, string>;
    readonly type?: string | false;
    readonly limitBytes?: number;
  }

  /** In words why a body is refused. */
  async function refusalOf({ text = "{}", headers = {}, type = "application/json", limitBytes }: Sent) {
    const request = Object.assign(new PassThrough(), {
      headers: { "transfer-encoding": "chunked", "content-type": type, ...headers },
      is: () => type,
    });
    request.end(text);
    const set: Record<string, string> = {};
    const response = { setHeader: (name: string, value: string) => (set[name] = value) };
    try {
      await jsonBody(limitBytes)(
        request as unknown as Request,
        response as unknown as Response,
        () => undefined,
      );
      return "taken";
    } catch (error) {
      const { code, message } = error as { code: string; message: string };
      return { code, message, set };
    }
  }

  test("is told how it is sent", async () => {
    expect(await refusalOf({ type: false })).toMatchObject({
      code: "unsupported_media_type",
      message: "Send the body as application/json.",
    });
    const notPlain = {
      code: "unsupported_media_type",
      message: "Send the body as uncompressed application/json in UTF-8.",
    };
    expect(await refusalOf({ headers: { "content-encoding": "gzip" } })).toMatchObject(notPlain);
    expect(
      await refusalOf({ headers: { "content-type": 'application/json; charset="latin1"' } }),
    ).toMatchObject(notPlain);
    expect(await refusalOf({ text: "{" })).toMatchObject({
      code: "malformed_json",
      message: "The body is not valid JSON.",
    });
  });

  test("is told how long it may be; of one that goes on, nothing is read as a request", async () => {
    const tooLarge = { code: "body_too_large", message: "The body may be at most 4 bytes." };
    expect(await refusalOf({ text: "12345", limitBytes: 4 })).toEqual({
      ...tooLarge,
      set: { Connection: "close" },
    });
    expect(await refusalOf({ headers: { "content-length": "5" }, limitBytes: 4 })).toEqual({
      ...tooLarge,
      set: {},
    });
    expect(await refusalOf({ text: "1234", limitBytes: 4 })).toBe("taken");
  });

  test("a body in chunks may be empty, too", async () => {
    expect(await refusalOf({ text: "" })).toBe("taken");
  });
});

describe("a body that does not come to its end", () => {
  const sending = () => Object.assign(new PassThrough(), { headers: {} }) as PassThrough & Request;
  const bytesOf = (request: PassThrough & Request) => bodyBytes(request, {} as Response, 10);
  const endedTooEarly = {
    code: "malformed_request",
    message: "The request ended before its body was complete.",
  };

  test("is refused when the connection ends, also if it had ended before", async () => {
    const request = sending();
    const reading = bytesOf(request);
    request.write("1");
    request.destroy();
    await expect(reading).rejects.toMatchObject(endedTooEarly);
    await expect(bytesOf(request)).rejects.toMatchObject(endedTooEarly);
  });

  test("and one that does, leaves nobody who waits for the end of the connection", async () => {
    const request = sending();
    const before = request.listenerCount("close");
    const reading = bytesOf(request);
    request.end("1");
    expect((await reading).toString()).toBe("1");
    expect(request.listenerCount("close")).toBe(before);
  });

  test("was read by somebody else, if there is nothing left of it", async () => {
    const request = sending();
    request.end("1");
    await request.forEach(() => undefined);
    await expect(bytesOf(request)).rejects.toThrow("mount Holdfast before whatever reads bodies");
  });
});
