import { readFileSync } from "node:fs";
import { join } from "node:path";
import { LOOK_EVERY_MS } from "../../../src/infrastructure/locking/file/file-tenure";
import {
  deadlySilenceMs,
  leaseSettings,
} from "../../../src/infrastructure/locking/lease/protocol/lease-settings";
import {
  ANSWER_TIMEOUT_MS,
  HEARTBEAT_MS,
} from "../../../src/infrastructure/locking/postgres/postgres-lock-backend";
import { sessionTimes } from "../../../src/infrastructure/locking/postgres/session-times";

const page = (path: string): string => readFileSync(join(__dirname, "../../../docs", path), "utf8");
const text = page("locking.md");
const inSeconds = (ms: number): string => `${ms / 1_000} s`;

/** The cells of a table's row after the first, which begins like this. */
function row(first: string, from = text): string[] {
  const line = from.split("\n").find((candidate) => candidate.startsWith(`| ${first} `));
  if (line === undefined) throw new Error(`the page has no row for ${first}`);
  return line
    .split("|")
    .slice(2, -1)
    .map((cell) => cell.trim());
}

const lease = leaseSettings();
const session = sessionTimes(HEARTBEAT_MS, ANSWER_TIMEOUT_MS);

describe("what docs/locking.md promises for each lock", () => {
  it.each(["`file:`, kernel", "`file:`, exclusive-create"])(
    "the page on locks promises for %s how soon a removed file is noticed",
    (name) => {
      const [, , , loss] = row(name);
      expect(loss).toContain(`${inSeconds(LOOK_EVERY_MS)} after its file was removed`);
    },
  );

  it("`postgres:`", () => {
    const [, , free, loss] = row("`postgres:`");
    expect(free).toContain(`${inSeconds(session.serverSilenceMs)} after its host vanished`);
    expect(loss).toContain(`${inSeconds(ANSWER_TIMEOUT_MS)} of an unanswered question`);
    expect(loss).toContain(`${inSeconds(session.silenceLimitMs)} of silence`);
  });

  it.each(["leases in PostgreSQL", "`redis://`", "`redis+cluster://`, `redis+sentinel://`", "`gs://`"])(
    "the page on locks promises for %s how soon a lock is free and its loss is noticed",
    (name) => {
      const [, , free, loss] = row(name);
      expect(free).toBe(inSeconds(deadlySilenceMs(lease.ttlMs, lease)));
      expect(loss).toBe(
        `${inSeconds(lease.ttlMs / 3)} (a renewal), ${inSeconds(lease.ttlMs)} if nothing answers`,
      );
    },
  );

  it("the settings of a lease", () => {
    const { closeMs: _closing, rememberedIds: _bound, ...documented } = lease;
    for (const [name, value] of Object.entries(documented))
      expect([name, row(`\`${name}\``, page("locks/leases.md"))[0]]).toEqual([
        name,
        value.toLocaleString("en-US"),
      ]);
  });

  it("after a pause", () => {
    const paused = text.slice(text.indexOf("a machine that is paused"));
    expect(paused).toContain(`at its next renewal, ${inSeconds(lease.ttlMs / 3)} after it goes on`);
    expect(paused).toContain(`at its next heartbeat, ${inSeconds(HEARTBEAT_MS)} and an answer later`);
  });
});
