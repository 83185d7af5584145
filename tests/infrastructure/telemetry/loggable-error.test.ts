import pino from "pino";
import { loggableError } from "../../../src/infrastructure/telemetry/loggable-error";

const logged = (error: unknown) => {
  const lines: string[] = [];
  const logger = pino(
    { serializers: { err: loggableError } },
    { write: (line: string) => void lines.push(line) },
  );
  logger.error({ err: error }, "failed");
  return lines.join("");
};

test("an error is logged with its name, message, code, stack and cause", () => {
  const cause = Object.assign(new Error("refused"), { code: "ECONNREFUSED" });
  const line = JSON.parse(logged(new TypeError("no answer", { cause }))) as { err: object };
  expect(line.err).toMatchObject({
    type: "TypeError",
    message: "no answer",
    stack: expect.stringContaining("loggable-error.test.ts"),
    cause: { message: "refused", code: "ECONNREFUSED" },
  });
});

test("what a client hangs on its errors stays out of the log", () => {
  const error = Object.assign(new Error("declined"), {
    headers: { authorization: "Bearer topsecret" },
    config: { password: "topsecret" },
    cause: Object.assign(new Error("inner"), { request: { secret: "topsecret" } }),
  });
  expect(logged(error)).not.toContain("topsecret");
});

test.each([
  "cannot reach postgres://holdfast:topsecret@db.internal/payments",
  "cannot reach redis://:topsecret@10.0.0.1:6379",
  "bad header Authorization: Bearer topsecret",
  "Invalid API Key: sk_live_topsecret",
  "no such key hf_topsecret-and_more",
])("a secret in a message is taken out: %s", (message) => {
  expect(logged(new Error("outer", { cause: new Error(message) }))).not.toContain("topsecret");
  expect(logged(message)).not.toContain("topsecret");
});

test("errors that cause each other end somewhere", () => {
  const one = new Error("one");
  const two = new Error("two", { cause: one });
  one.cause = two;
  expect(logged(one)).toContain("two");
});
