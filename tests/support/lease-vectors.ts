import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { StoredLeaseRecord } from "../../src/infrastructure/locking/lease/protocol/lease-record";

const folder = join(__dirname, "../../docs/lease-wire-format");
const load = (file: string): unknown => JSON.parse(readFileSync(join(folder, file), "utf8"));

/** A record as it is stored: JSON, or whatever text lies there. */
type Stored = { readonly what: string } & ({ readonly record: object } | { readonly text: string });

/** The examples that stand beside docs/lease-wire-format.md, for whoever writes a peer. */
export const leaseVectors = load("vectors.json") as {
  readonly names: readonly { prefix: string; id: string; repeat?: number; object: string }[];
  readonly records: {
    readonly written: readonly { readonly what: string; readonly record: StoredLeaseRecord }[];
    readonly tolerated: readonly (Stored & { readonly readAs: StoredLeaseRecord })[];
    readonly refused: readonly (Stored & { readonly flaw: string })[];
  };
  readonly fences: readonly {
    readonly what: string;
    readonly record: number | null;
    readonly seen: number;
    readonly serviceMs: number;
    readonly fence: number;
  }[];
};

export const leaseRecordSchema = load("record.schema.json") as object;

export function storedText(vector: Stored): string {
  return "text" in vector ? vector.text : JSON.stringify(vector.record);
}
