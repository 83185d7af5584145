import { HttpWorld } from "../../support/http-world";

let http: HttpWorld;
beforeEach(async () => {
  http = await new HttpWorld().open();
});
afterEach(() => http.close());

test("a capture sent twice with one key is answered twice and made once", async () => {
  const id = await http.authorize();
  const first = await http.capture(id, "k1");
  const second = await http.capture(id, '"k1"');
  expect(first.status).toBe(201);
  expect(first.headers.get("idempotency-replayed")).toBeNull();
  expect(second.status).toBe(201);
  expect(second.headers.get("idempotency-replayed")).toBe("true");
  expect(second.body).toEqual(first.body);
  expect(await http.timesCaptured(id)).toBe(1);
});
