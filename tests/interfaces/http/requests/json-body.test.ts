import type { Request, Response } from "express";
import { PassThrough } from "node:stream";
import { jsonBody } from "../../../../src/interfaces/http/requests/json-body";

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
