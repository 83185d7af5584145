import { Deadlines, type Due } from "../../../../src/infrastructure/locking/line/deadlines";
import type { Ticket } from "../../../../src/infrastructure/locking/line/ticket-queue";
import { VirtualLockClock } from "../../../support/fakes/virtual-lock-clock";

describe("Deadlines", () => {
  let clock: VirtualLockClock;
  let deadlines: Deadlines;
  let rung: string[];

  beforeEach(() => {
    clock = new VirtualLockClock();
    deadlines = new Deadlines(clock);
    rung = [];
  });

  function add(name: string, budgetMs: number, then: () => void = () => {}): () => void {
    const due: Due = {
      deadlineMs: clock.monotonicMs() + budgetMs,
      reachDeadline: () => {
        rung.push(name);
        then();
      },
    };
    const list = deadlines.within(budgetMs);
    const ticket: Ticket<Due> = list.add(due);
    return () => list.remove(ticket);
  }

  it("rings each at its own time, with one timer for each budget", async () => {
    add("first", 100);
    add("long", 250);
    await clock.advance(40);
    add("second", 100);
    expect(clock.pendingTimers).toBe(2);
    await clock.advance(59);
    expect(rung).toEqual([]);
    await clock.advance(1);
    expect(rung).toEqual(["first"]);
    await clock.advance(39);
    expect(rung).toEqual(["first"]);
    await clock.advance(1);
    expect(rung).toEqual(["first", "second"]);
    await clock.advance(110);
    expect(rung).toEqual(["first", "second", "long"]);
    expect(clock.pendingTimers).toBe(0);
  });

  it("rings the second in time when the first has left", async () => {
    const leave = add("first", 100);
    await clock.advance(40);
    add("second", 100);
    leave();
    await clock.advance(99);
    expect(rung).toEqual([]);
    await clock.advance(1);
    expect(rung).toEqual(["second"]);
    expect(clock.pendingTimers).toBe(0);
  });

  it("Deadlines keeps no timer when all have left, and takes newcomers after that", async () => {
    const leave = [add("first", 100), add("second", 100)];
    for (const each of leave) each();
    expect(clock.pendingTimers).toBe(0);
    add("third", 100);
    for (const each of leave) each();
    await clock.advance(100);
    expect(rung).toEqual(["third"]);
    expect(clock.pendingTimers).toBe(0);
  });

  it("Deadlines has one timer for those who came after all others had left, also when one of these leaves again", () => {
    const leave = add("first", 100);
    leave();
    add("second", 100);
    leave();
    add("third", 100);
    expect(clock.pendingTimers).toBe(1);
  });

  it("Deadlines keeps nothing of a budget that nobody waits with any more", async () => {
    const before = deadlines.within(100);
    add("first", 100)();
    expect(deadlines.within(100)).not.toBe(before);
    add("second", 200);
    const list = deadlines.within(200);
    await clock.advance(200);
    expect(deadlines.within(200)).not.toBe(list);
  });

  it("Deadlines sets no timer for who comes while another one's is set", async () => {
    add("first", 100);
    await clock.advance(60);
    add("second", 100);
    expect(clock.pendingTimers).toBe(1);
    await clock.advance(40);
    expect([rung, clock.pendingTimers]).toEqual([["first"], 1]);
  });

  it("Deadlines takes who comes while it rings, and lets go of who leaves then", async () => {
    let leaveThird = (): void => {};
    add("first", 100, () => {
      add("fourth", 100);
      leaveThird();
    });
    add("second", 100);
    leaveThird = add("third", 100);
    await clock.advance(100);
    expect(rung).toEqual(["first", "second"]);
    expect(clock.pendingTimers).toBe(1);
    await clock.advance(100);
    expect(rung).toEqual(["first", "second", "fourth"]);
    expect(clock.pendingTimers).toBe(0);
  });

  it("Deadlines takes who comes when the last of all is rung", async () => {
    add("first", 100, () => add("second", 100));
    await clock.advance(200);
    expect(rung).toEqual(["first", "second"]);
    expect(clock.pendingTimers).toBe(0);
  });
});
