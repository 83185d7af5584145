import type { StoredLeaseRecord } from "../../../src/infrastructure/locking/lease/protocol/lease-record";
import type {
  LeaseRecordStore,
  ReadLeaseRecord,
  RecordVersion,
} from "../../../src/infrastructure/locking/lease/protocol/lease-record-store";

export type StoreRequest = "read" | "age" | "write" | "remove";

/** What becomes of one request: called instead of it, with a way to carry it out. */
type Script = (carryOut: () => Promise<unknown>) => Promise<unknown>;

/** Counts requests, and lets a test decide the fate of single ones. */
export class ScriptedLeaseStore implements LeaseRecordStore {
  readonly requests: StoreRequest[] = [];
  private readonly scripts: { readonly request: StoreRequest; readonly script: Script }[] = [];

  constructor(private readonly inner: LeaseRecordStore) {}

  /** The next request of this kind goes through `script`. Several are used up in order. */
  next(request: StoreRequest, script: Script): void {
    this.scripts.push({ request, script });
  }

  /** From here on every request is carried out. */
  clear(): void {
    this.scripts.splice(0);
  }

  /** What was sent since the last call, in order. */
  takeRequests(): StoreRequest[] {
    return this.requests.splice(0);
  }

  read(id: string): Promise<ReadLeaseRecord | null> {
    return this.through("read", () => this.inner.read(id));
  }

  ageMs(id: string, version: RecordVersion): Promise<number | null> {
    return this.through("age", () => this.inner.ageMs(id, version));
  }

  write(
    id: string,
    record: StoredLeaseRecord,
    ifVersion: RecordVersion | "absent",
  ): Promise<RecordVersion | "conflict"> {
    return this.through("write", () => this.inner.write(id, record, ifVersion));
  }

  remove(id: string, ifVersion: RecordVersion): Promise<void> {
    return this.through("remove", () => this.inner.remove(id, ifVersion));
  }

  private through<T>(request: StoreRequest, carryOut: () => Promise<T>): Promise<T> {
    this.requests.push(request);
    const index = this.scripts.findIndex((entry) => entry.request === request);
    if (index === -1) return carryOut();
    const [entry] = this.scripts.splice(index, 1);
    return entry === undefined ? carryOut() : (entry.script(carryOut) as Promise<T>);
  }
}
