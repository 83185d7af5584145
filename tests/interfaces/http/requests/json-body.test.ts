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
