import { randomUUID } from "node:crypto";
import { closeSync, existsSync, fsyncSync, openSync, readFileSync, statSync, writeSync } from "node:fs";
import { dirname } from "node:path";
import { crc32 } from "node:zlib";
import { StoreUnavailableError } from "../../../application/ports/payment-repository";
import type { DatabaseSync, StatementSync } from "./sqlite-driver";

/** What an unclean stop has cost: commits that were acknowledged, and that neither the file nor its log has. */
export interface LostLog {
  readonly path: string;
  /** Null where nobody can tell, because the mark is gone, too. */
  readonly commits: number | null;
  /** An operator has said to go on. */
  readonly isAccepted: boolean;
}

interface Mark {
  readonly store: string;
  readonly commits: number;
}

const TABLE = `CREATE TABLE IF NOT EXISTS holdfast_commits (
  id INTEGER PRIMARY KEY CHECK (id = 1), store TEXT NOT NULL, commits INTEGER NOT NULL) STRICT`;

/**
 * Counts the commits of a SQLite file, in the file and in a mark beside it. The mark is written after each commit and
 * before anybody is told of it, so it never says more than what the disk has: a file with fewer commits than its mark has
 * lost some. Writing it waits for no disk; what is left of it after a power loss says less, and nothing wrong.
 *
 * Whether the last process closed the file is SQLite's own header: it says "WAL" for as long as a log may be needed. A
 * file that was closed, or copied by `VACUUM INTO`, says otherwise, is whole in itself and is not compared with anything.
 */
export class SqliteCommitMark {
  private constructor(
    private readonly fd: number | null,
    private readonly count: StatementSync,
    private readonly store: string,
    readonly lost: LostLog | null,
  ) {}

  /** Before the connection changes to WAL: what is made here must not itself be in a log that can be lost. */
  static open(
    connection: DatabaseSync,
    file: string,
    hadLog: boolean,
    acceptLost: boolean,
  ): SqliteCommitMark {
    const wasClosed = journalMode(connection) !== "wal";
    // First the mark, then the file: another process may be committing to both.
    const mark = readMark(markOf(file));
    const isNew = ensureTable(connection);
    const stored = connection.prepare("SELECT store, commits FROM holdfast_commits").get() as unknown as Mark;
    const ours = mark?.store === stored.store ? mark : null;
    const missing = wasClosed || isNew ? 0 : missingCommits(stored, ours, hadLog);
    const lost = missing === 0 ? null : { path: file, commits: missing, isAccepted: acceptLost };
    if (lost?.isAccepted === true && ours !== null) {
      connection.prepare("UPDATE holdfast_commits SET commits = ?").run(ours.commits);
    }
    const count = connection.prepare("UPDATE holdfast_commits SET commits = commits + 1 RETURNING commits");
    // Nothing is changed while nobody has decided: the log may be found and put back.
    if (lost?.isAccepted === false) return new SqliteCommitMark(null, count, stored.store, lost);
    const fd = openMark(markOf(file));
    // Durable before the first commit: an older mark that says more would be taken for a loss after the next power loss.
    if (ours === null || (wasClosed && ours.commits !== Number(stored.commits))) {
      writeMark(fd, stored);
      fsyncSync(fd);
    }
    return new SqliteCommitMark(fd, count, stored.store, lost);
  }

  /** Inside the transaction. Returns what is to be marked once it is committed. */
  next(): number {
    return Number((this.count.get() as { commits: number | bigint }).commits);
  }

  /** Committed, and nobody knows yet. */
  committed(commits: number): void {
    if (this.fd === null) return;
    try {
      writeMark(this.fd, { store: this.store, commits });
    } catch {
      // The commit stands. The mark says less than it could, until the next one.
    }
  }

  close(): void {
    if (this.fd !== null) closeSync(this.fd);
  }
}

export function assertLogIsWhole(lost: LostLog | null): void {
  if (lost === null || lost.isAccepted) return;
  throw new StoreUnavailableError(lostLogInWords(lost), { reason: "log_lost" });
}

export function lostLogInWords({ path, commits, isAccepted }: LostLog): string {
  const what =
    commits === null
      ? `${path} was not closed cleanly, and the log beside it (${path}-wal) is missing: the last changes that callers were told of may be missing in it`
      : `${path} was not closed cleanly, and the log beside it (${path}-wal) was lost or damaged: the last ${commits} commits that callers were told of are missing in it`;
  return isAccepted
    ? `${what}. This was accepted (--accept-lost-log): compare the payments that changed last with the gateway`
    : `${what}. Nothing is written, and nothing is sent to the gateway. Stop the server, put the log back if you have it, or ` +
        "restore a backup; otherwise compare the payments that changed last with the gateway, and start once with --accept-lost-log";
}

function missingCommits(stored: Mark, mark: Mark | null, hadLog: boolean): number | null {
  if (mark !== null) return Math.max(0, mark.commits - Number(stored.commits));
  return hadLog ? 0 : null;
}

/** Resolves with whether nobody had counted in this file before. */
function ensureTable(connection: DatabaseSync): boolean {
  const known: unknown = connection
    .prepare("SELECT 1 FROM sqlite_schema WHERE name = 'holdfast_commits'")
    .get();
  if (known !== undefined) return false;
  connection.exec("BEGIN IMMEDIATE");
  try {
    connection.exec(TABLE);
    connection.prepare("INSERT OR IGNORE INTO holdfast_commits VALUES (1, ?, 0)").run(randomUUID());
    connection.exec("COMMIT");
  } catch (error) {
    if (connection.isTransaction) connection.exec("ROLLBACK");
    throw error;
  }
  return true;
}

function journalMode(connection: DatabaseSync): string {
  return (connection.prepare("PRAGMA journal_mode").get() as { journal_mode: string }).journal_mode;
}

const markOf = (file: string): string => `${file}-mark`;

/** Null if there is none, or if what is there was not written to its end. */
function readMark(path: string): Mark | null {
  if (!existsSync(path)) return null;
  const [store = "", commits = "", checksum] = readFileSync(path, "latin1").trimEnd().split(" ");
  return checksum === checksumOf(store, commits) ? { store, commits: Number(commits) } : null;
}

/** The same length each time, in one write: it replaces what was there, and needs no room of its own. */
function writeMark(fd: number, { store, commits }: Mark): void {
  const count = String(commits).padStart(16, "0");
  writeSync(fd, `${store} ${count} ${checksumOf(store, count)}\n`, 0);
}

function checksumOf(store: string, commits: string): string {
  return crc32(`${store} ${commits}`).toString(16).padStart(8, "0");
}

function openMark(path: string): number {
  const isNew = !existsSync(path);
  const fd = openSync(path, isNew ? "w" : "r+", 0o600);
  if (!isNew) return fd;
  // Its name has to survive a power loss, too. Not every platform can say that.
  try {
    const folder = openSync(dirname(path), "r");
    fsyncSync(folder);
    closeSync(folder);
  } catch {
    // Then a mark that is missing after a power loss is one that nobody has to find.
  }
  return fd;
}

/** Of a log that SQLite may have to read. */
export function hasLog(file: string): boolean {
  return (statSync(`${file}-wal`, { throwIfNoEntry: false })?.size ?? 0) > 0;
}
