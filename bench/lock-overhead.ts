// Cost of `withLock`: uncontended next to the least that could do, an async-mutex in a counted map; and per grant with a
// short and a long line, next to one async-mutex. No step walks the line; what a longer one costs is the collector's
// work on everybody who is alive, which both have.
import { Mutex } from "async-mutex";
import { InMemoryLockProvider } from "../src/infrastructure/locking/in-memory-lock-provider";

const CYCLES_PER_ROUND = 50_000;
const ROUNDS = 21;
const LINES = [100, 1_000, 10_000];
/** Between rounds of one and the other, so that both meet the same heap and the same neighbours. */
const IDS = 1_000;

class CountedMutexes {
  private readonly entries = new Map<string, { mutex: Mutex; users: number }>();

  async withLock<T>(id: string, section: () => Promise<T>): Promise<T> {
    let entry = this.entries.get(id);
    if (entry === undefined) this.entries.set(id, (entry = { mutex: new Mutex(), users: 0 }));
    entry.users += 1;
    try {
      return await entry.mutex.runExclusive(section);
    } finally {
      entry.users -= 1;
      if (entry.users === 0) this.entries.delete(id);
    }
  }
}

interface Lender {
  withLock(id: string, section: () => Promise<number>): Promise<number>;
}

/** Of CPU time: what the neighbours on the machine do does not count. */
async function nanosecondsPerCycle(lender: Lender): Promise<number> {
  const section = async (): Promise<number> => 1;
  const before = process.cpuUsage();
  for (let i = 0; i < CYCLES_PER_ROUND; i += 1) await lender.withLock(`payment:${i % IDS}`, section);
  const { user, system } = process.cpuUsage(before);
  return ((user + system) * 1000) / CYCLES_PER_ROUND;
}

/** All callers of one id at once; what each of them costs from asking to leaving. */
async function nanosecondsPerGrant(lender: Lender, waiters: number): Promise<number> {
  const section = async (): Promise<number> => 1;
  const before = process.cpuUsage();
  for (let served = 0; served < CYCLES_PER_ROUND; served += waiters)
    await Promise.all(Array.from({ length: waiters }, () => lender.withLock("payment:1", section)));
  const { user, system } = process.cpuUsage(before);
  return ((user + system) * 1000) / CYCLES_PER_ROUND;
}

const median = (values: number[]): number => values.sort((a, b) => a - b)[Math.floor(values.length / 2)]!;

async function main(): Promise<void> {
  const plain: number[] = [];
  const ours: number[] = [];
  const provider = new InMemoryLockProvider();
  const mutexes = new CountedMutexes();
  for (let round = 0; round < ROUNDS; round += 1) {
    plain.push(await nanosecondsPerCycle(mutexes));
    ours.push(await nanosecondsPerCycle(provider));
  }
  const [a, b] = [median(plain), median(ours)];
  console.log(`async-mutex in a counted map  ${a.toFixed(0)} ns/cycle`);
  console.log(`InMemoryLockProvider          ${b.toFixed(0)} ns/cycle`);
  console.log(`ratio                         ${(b / a).toFixed(2)}`);

  for (const waiters of LINES) {
    plain.length = ours.length = 0;
    for (let round = 0; round < ROUNDS; round += 1) {
      plain.push(await nanosecondsPerGrant(mutexes, waiters));
      ours.push(await nanosecondsPerGrant(provider, waiters));
    }
    const [theirs, own] = [median(plain), median(ours)];
    const ratio = (own / theirs).toFixed(2);
    console.log(`a grant, ${waiters} in line: ${theirs.toFixed(0)} ns, ${own.toFixed(0)} ns, ratio ${ratio}`);
  }
}

void main();
