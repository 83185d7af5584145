import { MemoryLockProvider } from "../../../src/infrastructure/locking/memory/memory-lock-provider";
import { LinedLockProvider } from "../../../src/infrastructure/locking/line/lined-lock-provider";
import { FakeLockServer } from "../../support/fakes/fake-lock-backend";
import { Gate } from "../../support/fakes/gate";
import { eventually } from "../../support/program/holdfast-cli";
import { HttpWorld } from "../../support/worlds/http-world";

let http: HttpWorld;
afterEach(() => http.close());

test("who holds and how many wait is told by the id, and forgotten with the last of them", async () => {
  const locks = new MemoryLockProvider();
  http = await new HttpWorld({ app: { lockQueues: locks } }).open();
  expect((await http.get("/locks")).body).toEqual({ data: [] });

  const inside = new Gate();
  const holding = ["payment:b", "payment:a"].map((id) =>
    locks.withLock(id, () => inside.passed, { purpose: "capture" }),
  );
  const waiting = [1, 2].map(() => locks.withLock("payment:b", async () => {}));
  const { body } = await eventually(
    () => http.get("/locks"),
    (answer) => answer.body.data[1]?.waiting === 2,
  );
  const holder = {
    ownerId: null,
    host: null,
    pid: null,
    purpose: "capture",
    since: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/) as string,
  };
  expect(body).toEqual({
    data: [
      { resourceId: "payment:a", holder, waiting: 0 },
      { resourceId: "payment:b", holder, waiting: 2 },
    ],
  });
  inside.open();
  await Promise.all([...holding, ...waiting]);
  expect((await http.get("/locks")).body).toEqual({ data: [] });
});

test("a holder in another process is told while somebody here waits for it", async () => {
  const server = new FakeLockServer();
  const locks = new LinedLockProvider(server.backend("here"));
  const elsewhere = new LinedLockProvider(server.backend("elsewhere"));
  http = await new HttpWorld({ app: { lockQueues: locks } }).open();
  const inside = new Gate();
  const holding = elsewhere.withLock("payment:a", () => inside.passed);
  await eventually(
    async () => server.held.size,
    (held) => held === 1,
  );
  const waiting = locks.withLock("payment:a", async () => {});
  const { body } = await eventually(
    () => http.get("/locks"),
    (answer) => answer.body.data[0]?.holder?.ownerId !== undefined,
  );
  expect(body.data).toMatchObject([
    { resourceId: "payment:a", holder: { ownerId: server.held.get("payment:a")!.ownerId } },
  ]);
  inside.open();
  await Promise.all([holding, waiting]);
});
