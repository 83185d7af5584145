/** Tells work that no request waits for from the request that began what it works on. Absent where nothing is traced. */
export interface WorkTraces {
  /** Runs the work as a trace of its own, which refers to the one in which the operation began. */
  background<T>(name: BackgroundName, operationId: string | null, work: () => Promise<T>): Promise<T>;
}

export type BackgroundName = "reconcile" | "expire" | "follow hint";
