import { StoreUnavailableError } from "../../../../src/application/ports/payment-repository";
import { GroupCommit } from "../../../../src/infrastructure/persistence/sqlite/sqlite-group-commit";

/** Writes down what it is told, and fails at what it is to fail at. */
class ScriptedConnection {
  readonly told: string[] = [];
  readonly failsAt = new Map<string, Error>();
  inTransaction = false;

  run({ sql }: { readonly sql: string }): void {
    this.say(sql);
    if (sql.startsWith("BEGIN")) this.inTransaction = true;
    if (sql === "COMMIT" || sql === "ROLLBACK") this.inTransaction = false;
  }

  isInTransaction(): boolean {
    return this.inTransaction;
  }

  onCommitting(writes: number): () => void {
    this.say(`committing ${writes}`);
    return () => this.say("committed");
  }

  private say(what: string): void {
    this.told.push(what);
    const failure = this.failsAt.get(what);
    if (failure !== undefined) throw failure;
  }
}

let connection: ScriptedConnection;
let commits: GroupCommit;
beforeEach(() => {
  connection = new ScriptedConnection();
  commits = new GroupCommit(connection);
});

const nextRound = () => new Promise((resolve) => setImmediate(resolve));
const ended = (settled: Promise<void>): Promise<unknown> =>
  settled.then(
    () => "committed",
    (error: unknown) => error,
  );

test("members of a group are undone each alone, and committed together in the next round", async () => {
  const first = commits.enter();
  first.keep();
  const second = commits.enter();
  second.undo();
  const third = commits.enter();
  third.keep();
  expect(commits.isUnderway).toBe(true);
  const over = commits.over();
  await nextRound();
  await over;
  expect(commits.isUnderway).toBe(false);
  expect(await Promise.all([first, second, third].map(({ settled }) => ended(settled)))).toEqual([
    "committed",
    "committed",
    "committed",
  ]);
  expect(connection.told).toEqual([
    "BEGIN IMMEDIATE",
    "SAVEPOINT member",
    "ROLLBACK TO member",
    "RELEASE member",
    "SAVEPOINT member",
    "RELEASE member",
    "committing 2",
    "COMMIT",
    "committed",
  ]);
});

test("a group waits for the member that is still writing, and then commits at once", async () => {
  const first = commits.enter();
  first.keep();
  const second = commits.enter();
  await nextRound();
  commits.commit();
  expect(connection.told).not.toContain("COMMIT");
  second.keep();
  expect(connection.told.slice(-3)).toEqual(["committing 2", "COMMIT", "committed"]);
  await second.settled;
});

test("a first member that is undone ends its group, which is as good as none", async () => {
  const first = commits.enter();
  first.undo();
  expect(commits.isUnderway).toBe(false);
  await first.settled;
  await nextRound();
  commits.commit();
  expect(connection.told).toEqual(["BEGIN IMMEDIATE", "ROLLBACK"]);
});

describe("a group of which something fails", () => {
  const failure = new Error("disk I/O error");
  const undone = { name: "StoreUnavailableError", message: "SQLite has undone what was written together" };

  test.each([
    ["RELEASE member", "keep"],
    ["ROLLBACK TO member", "undo"],
  ] as const)(
    "a group is given up as a whole where %s fails, and certainly not written",
    async (statement, leave) => {
      const first = commits.enter();
      first.keep();
      connection.failsAt.set(statement, failure);
      const second = commits.enter();
      second[leave]();
      for (const { settled } of [first, second]) {
        const error = await ended(settled);
        expect(error).toMatchObject({ ...undone, cause: failure });
        expect(error).not.toMatchObject({ outcome: "unknown" });
      }
      expect(connection.told.at(-1)).toBe("ROLLBACK");
      expect(commits.isUnderway).toBe(false);
    },
  );

  test("a group is given up where its first member cannot be undone", async () => {
    const first = commits.enter();
    connection.failsAt.set("ROLLBACK", failure);
    expect(() => first.undo()).toThrow(failure);
    expect(await ended(first.settled)).toMatchObject({ ...undone, cause: failure });
  });

  test("a group is not known to be written where its commit fails, and is not where that is not begun", async () => {
    connection.failsAt.set("COMMIT", failure);
    const lost = commits.enter();
    lost.keep();
    commits.commit();
    expect(await ended(lost.settled)).toMatchObject({ outcome: "unknown" });
    expect(connection.told.at(-1)).toBe("ROLLBACK");

    connection.failsAt.clear();
    connection.failsAt.set("committing 1", failure);
    const refused = commits.enter();
    refused.keep();
    commits.commit();
    const error = await ended(refused.settled);
    expect(error).toMatchObject({ ...undone, cause: failure });
    expect(error).not.toMatchObject({ outcome: "unknown" });
    expect(connection.told.filter((what) => what === "COMMIT")).toHaveLength(1);
  });

  test("a group that SQLite has ended by itself is told why, in the words of what was refused", async () => {
    const full = new StoreUnavailableError("the disk is full", { reason: "full" });
    const first = commits.enter();
    first.keep();
    const second = commits.enter();
    connection.inTransaction = false;
    second.undo(full);
    expect(await Promise.all([ended(first.settled), ended(second.settled)])).toEqual([full, full]);
    expect(connection.told).not.toContain("ROLLBACK");
    await commits.over();
  });

  test("a group that fails when nobody is left to hear of it disturbs nobody", async () => {
    const unheard: unknown[] = [];
    const hear = (error: unknown) => void unheard.push(error);
    process.on("unhandledRejection", hear);
    connection.failsAt.set("COMMIT", failure);
    commits.enter().keep();
    commits.commit();
    await nextRound();
    await nextRound();
    process.off("unhandledRejection", hear);
    expect(unheard).toEqual([]);
  });
});
