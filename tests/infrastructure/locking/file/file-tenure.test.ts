import { FileTenure, type HeldFile } from "../../../../src/infrastructure/locking/file/file-tenure";
import { Gate } from "../../../support/fakes/gate";

/** A file that somebody takes away when the test says so. */
class TakenAway implements HeldFile {
  reason: string | null = null;
  released = 0;

  whyLost(): string | null {
    return this.reason;
  }

  naming = Promise.resolve();

  nameChild(): Promise<void> {
    return this.naming;
  }

  async giveBack(): Promise<void> {
    this.released++;
  }
}

describe("the tenure of a file lock", () => {
  beforeEach(() => jest.useFakeTimers());
  afterEach(() => jest.useRealTimers());

  it("the tenure of a file lock looks by itself every two seconds whether it is still held, until it is not", async () => {
    const file = new TakenAway();
    const tenure = new FileTenure("a", 1n, file);
    jest.advanceTimersByTime(10_000);
    expect(tenure.lost.aborted).toBe(false);
    file.reason = "a.lock was removed";
    jest.advanceTimersByTime(2_000);
    expect(tenure.lost).toMatchObject({ aborted: true, reason: "a.lock was removed" });
    expect(jest.getTimerCount()).toBe(0);
    await tenure.release();
  });

  it("the tenure of a file lock is lost for good, even if the file comes back", () => {
    const file = new TakenAway();
    const tenure = new FileTenure("a", 1n, file);
    file.reason = "a.lock was removed";
    expect(() => tenure.assertHeld()).toThrow(/a\.lock was removed/);
    file.reason = null;
    expect(() => tenure.assertHeld()).toThrow(/a\.lock was removed/);
  });

  it("the tenure of a file lock gives its file back once, and looks no more", async () => {
    const file = new TakenAway();
    const tenure = new FileTenure("a", 1n, file);
    await Promise.all([tenure.release(), tenure.release()]);
    expect(file.released).toBe(1);
    expect(jest.getTimerCount()).toBe(0);
  });

  it("the tenure of a file lock is not given back while a note about its command is being written: the file may be another's by then", async () => {
    const file = new TakenAway();
    const tenure = new FileTenure("a", 1n, file);
    const gate = new Gate();
    file.naming = gate.passed;
    void tenure.nameChild(1);
    const released = tenure.release();
    await Promise.resolve();
    expect(file.released).toBe(0);
    gate.open();
    await released;
    expect(file.released).toBe(1);
  });
});
