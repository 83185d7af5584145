// What a capture costs now, beside what it cost before the work on speed began: both programs with everything on, on SQLite
// files of their own, over HTTP. Their payments are authorized by themselves, because their schemas differ.
import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createApiKey, SHIPPED, startHoldfast } from "../load/holdfast-server";
import { captureRequest, openLoad } from "../load/http-load";
import { compare, inMicroseconds, sideBySide, type Side } from "../measuring/side-by-side";
import type { Bench } from "../measuring/suite";
import { formerProgram } from "../store/former-program";

const BEFORE = "f406baf";
const CONNECTIONS = 32;
const WARM_UPS = 4;

export async function before(bench: Bench): Promise<void> {
  const captures = bench.size(1_000, 20);
  const folder = mkdtempSync(join(tmpdir(), "holdfast-bench-before-"));
  const closers: (() => Promise<unknown>)[] = [];
  const side = async (name: string, program: string): Promise<Side> => {
    const file = join(folder, `${name}.db`);
    const secret = await createApiKey(file, program);
    const server = await startHoldfast(file, [], [], { program });
    closers.push(() => server.stop());
    return async () => {
      const ids = await authorized(server.port, secret, captures);
      const load = await openLoad(server.port, CONNECTIONS);
      const begun = await server.cpuMicroseconds();
      await load.run(
        ids.map((id) => captureRequest(id, randomUUID(), secret)),
        201,
      );
      load.close();
      return ((await server.cpuMicroseconds()) - begun) / captures;
    };
  };
  try {
    const former = formerProgram(BEFORE);
    closers.push(async () => former.remove());
    const sides = { ours: await side("ours", SHIPPED), theirs: await side("theirs", former.program) };
    const { ours, theirs } = await sideBySide(bench.rounds(11), sides, WARM_UPS);
    bench.report(
      compare({
        suite: "before",
        work: "CPU of `POST …/capture`, SQLite, everything on, 32 connections",
        against: `commit ${BEFORE}`,
        atMost: 0.6,
        ours,
        theirs,
        show: inMicroseconds,
      }),
    );
  } finally {
    for (const close of closers.reverse()) await close();
    rmSync(folder, { recursive: true });
  }
}

async function authorized(port: number, secret: string, count: number): Promise<readonly string[]> {
  const ids: string[] = [];
  let left = count;
  const caller = async (): Promise<void> => {
    while (left-- > 0) {
      const answer = await fetch(`http://127.0.0.1:${port}/payments`, {
        method: "POST",
        headers: {
          Authorization: `Bearer ${secret}`,
          "Content-Type": "application/json",
          "Idempotency-Key": randomUUID(),
        },
        body: JSON.stringify({ amount: 1_000, currency: "EUR", paymentMethod: "tok_ok" }),
      });
      const { payment } = (await answer.json()) as { payment: { id: string } };
      ids.push(payment.id);
    }
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, caller));
  return ids;
}
