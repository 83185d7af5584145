import { HoldfastCli } from "../../support/program/holdfast-cli";
import { HttpWorld } from "../../support/worlds/http-world";

jest.setTimeout(60_000);
const holdfast = new HoldfastCli();

let http: HttpWorld;
beforeEach(async () => {
  http = await new HttpWorld({ app: { readiness: { store: async () => undefined } } }).open();
});
afterEach(() => http.close());

const health = (url = http.url) => holdfast.run(["health"], { HOLDFAST_URL: url });

test("health says that a server is ready, and what it depends on", async () => {
  expect(await health()).toMatchObject({ status: 0, stdout: "ready: store up\n", stderr: "" });
});

test("health ends with 69 for a server that is not ready, and says what is down", async () => {
  await http.close();
  http = await new HttpWorld({
    app: { readiness: { store: () => Promise.reject(new Error("no space left")) } },
  }).open();
  const { status, stdout, stderr } = await health();
  expect([status, stdout]).toEqual([69, ""]);
  expect(stderr).toMatch(/Not ready: store/);
});

test("health ends with 69 where nobody answers", async () => {
  const { status, stderr } = await health("http://127.0.0.1:1");
  expect(status).toBe(69);
  expect(stderr).toContain("no server at http://127.0.0.1:1");
});
