import { problemKind, type ProblemCode } from "../../src/interfaces/http/problems/problem-table";
import type { HttpAnswer } from "./worlds/http-world";

/** Everything that each problem has to carry, whatever it is about. Resolves with its members for a closer look. */
export function expectProblem(
  answer: HttpAnswer,
  status: number,
  code: ProblemCode,
  retryAfter: string | null = null,
): HttpAnswer["body"] {
  expect({ status: answer.status, code: answer.body.code }).toEqual({ status, code });
  expect(answer.headers.get("content-type")).toBe("application/problem+json; charset=utf-8");
  expect(answer.headers.get("retry-after")).toBe(retryAfter);
  expect(answer.headers.get("x-request-id")).toBe(answer.body.requestId);
  expect(answer.body).toMatchObject({
    type: `urn:holdfast:problem:${code}`,
    title: problemKind(code).title,
    status,
    detail: expect.any(String),
    instance: expect.stringMatching(/^\//),
    retryable: problemKind(code).retryable,
  });
  return answer.body;
}
