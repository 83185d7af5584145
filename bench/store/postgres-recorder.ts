import { Client } from "pg";

export interface RecordedQuery {
  readonly text: string;
  readonly values: readonly unknown[];
}

/** The lock session's own, which may be due meanwhile: no part of what is recorded. */
const HEARTBEAT = "SELECT 1";

/** Runs the work while everything that is sent over any connection is written down. */
export async function recordingQueries(work: () => Promise<unknown>): Promise<readonly RecordedQuery[]> {
  const sent: RecordedQuery[] = [];
  const { query } = Client.prototype as unknown as { query: (...args: unknown[]) => unknown };
  const recording = function (this: Client, ...args: unknown[]): unknown {
    const [first, second] = args;
    const { text = "", values = [] } =
      typeof first === "string" ? { text: first } : (first as { text?: string; values?: unknown[] });
    if (text !== HEARTBEAT) sent.push({ text, values: Array.isArray(second) ? second : values });
    return query.apply(this, args);
  };
  Object.assign(Client.prototype, { query: recording });
  try {
    await work();
    // The lock is given back behind the caller's back.
    for (let before = -1; before < sent.length;) {
      before = sent.length;
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
    return sent;
  } finally {
    Object.assign(Client.prototype, { query });
  }
}
