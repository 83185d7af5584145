export type SqlEngine = "sqlite" | "postgres";

/** One step of the schema. Once released it never changes: a correction is the next step. */
export interface Migration {
  readonly version: number;
  readonly name: string;
  statements(engine: SqlEngine): readonly string[];
}
