import type { Migration } from "../../migration";

/** In which trace an operation began, and in which an event was told. What there is was not traced, or nobody kept it. */
export const traceContexts: Migration = {
  version: 18,
  name: "trace contexts",
  statements: (engine) => {
    const text = engine === "sqlite" ? "text" : 'text COLLATE "C"';
    return ["operations", "public_events"].map(
      (table) => `ALTER TABLE ${table} ADD COLUMN trace_context ${text}`,
    );
  },
};
