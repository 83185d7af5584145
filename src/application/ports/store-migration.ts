/**
 * Brings the store to the schema this version of the program writes. Every adapter MUST
 * - go forward only, each step whole or not at all;
 * - be safe to run while other processes run it or use the store;
 * - leave a store alone whose schema is newer, and reject with `SchemaTooNewError`.
 */
export interface StoreMigration {
  migrate(): Promise<MigrationReport>;
}

export interface MigrationReport {
  /** The schema's version before; 0 for an empty store. */
  readonly from: number;
  readonly to: number;
}

/** The store was written by a newer version of this program. */
export class SchemaTooNewError extends Error {
  override readonly name = "SchemaTooNewError";
  readonly code = "schema_too_new";

  constructor(
    readonly foundVersion: number,
    readonly knownVersion: number,
  ) {
    super(
      `the store has schema version ${foundVersion}, this program knows versions up to ${knownVersion}: ` +
        "run the newer program again, or restore a backup from before its upgrade",
    );
  }
}
