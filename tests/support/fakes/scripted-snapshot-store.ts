import type { ManifestVersion, SnapshotStore } from "../../../src/application/ports/snapshot-store";

type Step = (carryOut: () => Promise<unknown>) => Promise<unknown>;

/** A snapshot store on which the next request of a kind can be held up, made to fail, or answered otherwise. */
export class ScriptedSnapshotStore implements SnapshotStore {
  readonly requests: string[] = [];
  private readonly scripted = new Map<keyof SnapshotStore, Step[]>();

  constructor(private readonly inner: SnapshotStore) {}

  next(request: keyof SnapshotStore, step: Step): void {
    this.scripted.set(request, [...(this.scripted.get(request) ?? []), step]);
  }

  readonly putSnapshot = (id: string, name: string, bytes: Uint8Array) =>
    this.run("putSnapshot", () => this.inner.putSnapshot(id, name, bytes));
  readonly readSnapshot = (id: string, name: string) =>
    this.run("readSnapshot", () => this.inner.readSnapshot(id, name));
  readonly snapshotNames = (id: string) => this.run("snapshotNames", () => this.inner.snapshotNames(id));
  readonly removeSnapshot = (id: string, name: string) =>
    this.run("removeSnapshot", () => this.inner.removeSnapshot(id, name));
  readonly readManifest = (id: string) => this.run("readManifest", () => this.inner.readManifest(id));
  readonly writeManifest = (id: string, text: string, ifVersion: ManifestVersion | "absent") =>
    this.run("writeManifest", () => this.inner.writeManifest(id, text, ifVersion));
  readonly removeSandbox = (id: string, ifVersion: ManifestVersion) =>
    this.run("removeSandbox", () => this.inner.removeSandbox(id, ifVersion));
  readonly sandboxes = () => this.run("sandboxes", () => this.inner.sandboxes());

  private async run<T>(request: keyof SnapshotStore, carryOut: () => Promise<T>): Promise<T> {
    this.requests.push(request);
    const step = this.scripted.get(request)?.shift();
    return step === undefined ? carryOut() : ((await step(carryOut)) as T);
  }
}
