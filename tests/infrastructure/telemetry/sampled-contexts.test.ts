import { ROOT_CONTEXT, createContextKey } from "@opentelemetry/api";
import { AsyncLocalStorageContextManager } from "@opentelemetry/context-async-hooks";
import { SampledContexts } from "../../../src/infrastructure/telemetry/tracing/sampled-contexts";

const KEY = createContextKey("a test");

test("callers are followed until the last of what is sampled is over, and again with the next", async () => {
  const manager = new AsyncLocalStorageContextManager();
  const contexts = new SampledContexts(manager);
  const active = () => manager.active().getValue(KEY);
  const request = async (name: string, ends: Promise<void>, seen: unknown[]) => {
    const leave = contexts.enter();
    await manager.with(ROOT_CONTEXT.setValue(KEY, name), async () => {
      await ends;
      seen.push(active());
      leave();
      seen.push(active());
    });
  };
  const seen = { first: [] as unknown[], second: [] as unknown[], third: [] as unknown[] };
  let endFirst = () => {};
  let endSecond = () => {};
  const first = request("first", new Promise((resolve) => (endFirst = resolve)), seen.first);
  const second = request("second", new Promise((resolve) => (endSecond = resolve)), seen.second);
  endFirst();
  await first;
  endSecond();
  await second;
  // As long as another one went on, also what was over was followed; after the last, nothing is.
  expect(seen.first).toEqual(["first", "first"]);
  expect(seen.second).toEqual(["second", undefined]);
  await request("third", Promise.resolve(), seen.third);
  expect(seen.third).toEqual(["third", undefined]);
});
