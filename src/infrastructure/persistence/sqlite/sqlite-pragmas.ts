import { StoreUnavailableError } from "../../../application/ports/payment-repository";

export interface PragmaConnection {
  exec(text: string): void;
  prepare(text: string): { get(): unknown };
}

/** Reopening a WAL file silently gives synchronous=NORMAL, which may lose what was acknowledged: so it is set each time. */
const PRAGMAS = [
  ["journal_mode", "WAL", "wal"],
  ["synchronous", "FULL", 2],
  ["foreign_keys", "ON", 1],
] as const;

/** Sets what every promise of the store rests on, and reads it back: SQLite does not refuse what it cannot do. */
export function setPragmas(connection: PragmaConnection, path: string): void {
  for (const [pragma, value, readBack] of PRAGMAS) {
    connection.exec(`PRAGMA ${pragma} = ${value}`);
    const answer = connection.prepare(`PRAGMA ${pragma}`).get();
    const effective = (answer as Record<string, unknown> | undefined)?.[pragma];
    if (effective !== readBack) {
      throw new StoreUnavailableError(
        `${path}: SQLite answers ${pragma}=${String(effective)} where ${value} was set, so no payment would be safe in it`,
      );
    }
  }
}
