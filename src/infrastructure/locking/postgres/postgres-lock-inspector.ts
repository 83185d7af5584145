// Excludes: nobody; it reads what the sessions wrote down, and what the server itself says about its locks.
// Survives: notes of the dead; a lock that the server does not know is not listed.
// Not for: breaking a lock. It ends with its session, and only ending that session frees it.
import { LockUnavailableError } from "../../../application/ports/lock-errors";
import type { BreakOutcome, InspectedLock, LockInspector } from "../../../application/ports/lock-inspector";
import { PostgresDatabase } from "../../persistence/postgres/postgres-database";
import type { Client } from "../../persistence/postgres/postgres-driver";
import { PostgresLockStatements } from "./postgres-lock-statements";
import { checkedSchema, DEFAULT_LOCK_SCHEMA, idFromStored, lockSchemaIsThere } from "./postgres-lock-schema";

interface HolderRow {
  readonly resource_id: string;
  readonly session: number;
  readonly host: string;
  readonly pid: number;
  readonly purpose: string | null;
  readonly since: Date;
  readonly wanted: boolean;
}

export class PostgresLockInspector implements LockInspector {
  private readonly schema: string;
  private readonly database: PostgresDatabase;

  constructor(url: string, schema = DEFAULT_LOCK_SCHEMA) {
    this.schema = checkedSchema(schema);
    this.database = new PostgresDatabase(url, { maxConnections: 1 });
  }

  async list(): Promise<readonly InspectedLock[]> {
    const rows = await this.database
      .session((client) => this.rows(client))
      .catch((error: unknown) => {
        throw new LockUnavailableError("any lock", (error as Error).message, { cause: error });
      });
    return rows.map(inspected).sort((a, b) => (a.resourceId < b.resourceId ? -1 : 1));
  }

  async show(resourceId: string): Promise<InspectedLock | null> {
    return (await this.list()).find((lock) => lock.resourceId === resourceId) ?? null;
  }

  async break(resourceId: string): Promise<BreakOutcome> {
    const lock = await this.show(resourceId);
    return lock === null ? { outcome: "not_held" } : { outcome: "end_the_processes", lock };
  }

  /** Nothing is left of a lock whose session has ended or given it back; but a server that is away is not "nothing". */
  async sweep(): Promise<readonly string[]> {
    await this.list();
    return [];
  }

  close(): Promise<void> {
    return this.database.close();
  }

  private async rows(client: Client): Promise<readonly HolderRow[]> {
    const { rows } = await client.query<{ there: boolean }>(lockSchemaIsThere(this.schema));
    if (rows[0]?.there !== true) return [];
    return (await client.query<HolderRow>(new PostgresLockStatements(this.schema).list)).rows;
  }
}

function inspected({ resource_id, session, host, pid, purpose, since, wanted }: HolderRow): InspectedLock {
  return {
    resourceId: idFromStored(resource_id),
    state: "held",
    holder: { host, pid, since, ...(purpose === null ? {} : { purpose }) },
    where: `session ${session}`,
    processes: [pid],
    remark:
      `ends with its process, or by SELECT pg_terminate_backend(${session}), which frees all locks of that process` +
      (wanted ? "; another caller waits for it" : ""),
  };
}
