import { judge, type Verdict } from "../../src/infrastructure/locking/lease/protocol/lease-judgement";
import { joined, newLine, waitersIn } from "../../src/infrastructure/locking/lease/protocol/lease-line";
import type { LeaseRecord } from "../../src/infrastructure/locking/lease/protocol/lease-record";
import { recordVersion } from "../../src/infrastructure/locking/lease/protocol/lease-record-store";
import {
  leaseSettings,
  type LeaseSettings,
} from "../../src/infrastructure/locking/lease/protocol/lease-settings";
import {
  claimed,
  neverHeld,
  released,
  renewed,
  withLine,
} from "../../src/infrastructure/locking/lease/protocol/lease-transitions";

/** What a tick of the model's time stands for: the shortest margin. */
export const TICK_MS = 2_000;

const NOBODY = 3;
const WHO = [0, 1, 2] as const;
/** Every order in which some of them may stand in line. The model knows a line by its place in this list. */
const LINES = [[], ...WHO.map((one) => [one]), ...WHO.flatMap(pairsFrom), ...WHO.flatMap(triplesFrom)];
/** In ticks: as long as the last in line waits for those before it. To wait for longer makes no difference. */
const FREE_FOR = WHO.length + 1;
const NOW_MS = 1_000_000;
/** `JOIN`: held, and we may stand in line. `STAY`: held, or kept for somebody else. */
const VERDICTS = ["MINE", "CLAIM", "JOIN", "STAY"] as const;

export function leaseOf(ticks: number): LeaseSettings {
  return leaseSettings({ ttlMs: ticks * TICK_MS, yieldMs: TICK_MS });
}

/**
 * The rules of a lease as `models/lease.pml` takes them: worked out by the functions of the protocol itself, for each case that
 * the model has, so that the model cannot drift from the code.
 */
export function leaseInPromela(ticks: number): string {
  const rules = new Rules(leaseOf(ticks));
  return `/* From src/infrastructure/locking/lease/protocol. */
#define TTL ${ticks}
#define MARGIN ${rules.settings.marginMs / TICK_MS}
#define TAKEN_FROM ${rules.earliestTakeOver()}
#define FREE_FOR ${FREE_FOR}
${VERDICTS.map((verdict, at) => `#define SAYS_${verdict} ${at}`).join("\n")}
${table("afterClaim", { line: 16, who: 3 }, (line, who) => rules.afterClaim(line, who))}
${table("afterRelease", { line: 16, who: 3 }, (line, who) => rules.afterRelease(line, who))}
${table("afterRenewal", { line: 16, who: 3 }, (line, who) => rules.afterRenewal(line, who))}
${table("whenJoined", { line: 16, who: 3, frontIsDead: 2 }, (line, who, isDead) => rules.joined(line, who, isDead === 1))}
${table("withoutOne", { line: 16, who: 3 }, (line, who) => rules.withoutOne(line, who))}
${table("isIn", { line: 16, who: 3 }, (line, who) => Number(namesIn(line).includes(nameOf(who))))}
${table("front", { line: 16 }, (line) => LINES[line]?.[0] ?? NOBODY)}
${table(
  "verdict",
  { owner: 4, line: 16, who: 3, ownerIsDead: 2, frontIsDead: 2, freeFor: FREE_FOR + 1 },
  (...about) => VERDICTS.indexOf(rules.verdict(...about)),
)}
`;
}

class Rules {
  private readonly deadlySilenceMs: number;

  constructor(readonly settings: LeaseSettings) {
    this.deadlySilenceMs = this.silenceUntilClaimable();
  }

  afterClaim(line: number, who: number): number {
    return placeOf(
      claimed(this.heldBy(NOBODY, line), {
        ownerId: nameOf(who),
        renewSeq: 0,
        ttlMs: this.settings.ttlMs,
        holder: { host: "model", pid: 1, operation: null },
        at: { monotonicMs: NOW_MS, wallMs: NOW_MS },
        fenceAbove: 0,
        waiterTtlMs: this.settings.waiterTtlMs,
      }),
    );
  }

  afterRelease(line: number, who: number): number {
    return placeOf(released(this.heldBy(who, 0), this.heldBy(who, line)));
  }

  afterRenewal(line: number, who: number): number {
    const at = { monotonicMs: NOW_MS, wallMs: NOW_MS };
    return placeOf(renewed(this.heldBy(who, 0), this.heldBy(who, line), 1, at));
  }

  joined(line: number, who: number, frontIsDead: boolean): number {
    return this.rewritten(line, who, joined(nameOf(who), namesIn(line), frontIsDead));
  }

  withoutOne(line: number, who: number): number {
    return this.rewritten(
      line,
      who,
      namesIn(line).filter((name) => name !== nameOf(who)),
    );
  }

  /** Whole ticks without a sign of life after which an observer whose clock has gained a whole margin takes an owner for dead. */
  earliestTakeOver(): number {
    return Math.floor((this.deadlySilenceMs - this.settings.marginMs) / TICK_MS);
  }

  verdict(
    owner: number,
    line: number,
    who: number,
    ownerIsDead: number,
    frontIsDead: number,
    freeFor: number,
  ): (typeof VERDICTS)[number] {
    const says = this.judged(owner, line, who, {
      owner: ownerIsDead === 1 ? this.deadlySilenceMs + freeFor * TICK_MS : 0,
      waiter: frontIsDead === 1 ? NOW_MS : 0,
      version: freeFor * TICK_MS,
    });
    switch (says.kind) {
      case "mine":
        return "MINE";
      case "claimable":
        return "CLAIM";
      case "held":
        return says.place === "vacant" ? "JOIN" : "STAY";
      case "reserved":
        return says.mayJoin ? "JOIN" : "STAY";
    }
  }

  /** By an observer's own clock. */
  private silenceUntilClaimable(): number {
    for (let ms = 0; ; ms += 1)
      if (this.judged(0, 0, 1, { owner: ms, waiter: 0, version: 0 }).kind === "claimable") return ms;
  }

  /** `silent`: for how many milliseconds. */
  private judged(
    owner: number,
    line: number,
    who: number,
    silent: Readonly<Record<"owner" | "waiter" | "version", number>>,
  ): Verdict {
    const sighting = {
      record: this.heldBy(owner, line),
      version: recordVersion(1),
      storeNowMs: NOW_MS,
      isAgeUnknown: false,
      seenAtMs: NOW_MS,
      silence: {
        ownerSinceMs: NOW_MS - silent.owner,
        waiterSinceMs: NOW_MS - silent.waiter,
        versionSinceMs: NOW_MS - silent.version,
      },
    };
    return judge(sighting, nameOf(who), NOW_MS, this.settings);
  }

  private rewritten(line: number, who: number, waiters: readonly string[]): number {
    const change = { by: nameOf(who), waiters, frontUntilMs: NOW_MS };
    return placeOf(withLine(this.heldBy(NOBODY, line), change, 0) as LeaseRecord);
  }

  private heldBy(owner: number, line: number): LeaseRecord {
    return {
      ...neverHeld(this.settings.ttlMs),
      ...newLine(namesIn(line), NOW_MS),
      ownerId: owner === NOBODY ? null : nameOf(owner),
    };
  }
}

function placeOf(record: LeaseRecord): number {
  const names = waitersIn(record).join();
  return LINES.findIndex((_, line) => namesIn(line).join() === names);
}

function namesIn(line: number): readonly string[] {
  return (LINES[line] ?? []).map(nameOf);
}

function nameOf(who: number): string {
  return `process ${who}`;
}

function others(...those: readonly number[]): number[] {
  return WHO.filter((one) => !those.includes(one));
}

function pairsFrom(first: number): number[][] {
  return others(first).map((second) => [first, second]);
}

function triplesFrom(first: number): number[][] {
  return others(first).flatMap((second) => others(first, second).map((third) => [first, second, third]));
}

/** A function of small numbers as Promela reads it. What is `hidden` is no part of a state. */
function table(
  name: string,
  sizes: Readonly<Record<string, number>>,
  of: (...given: [number, number, number, number, number, number]) => number,
): string {
  let cases: number[][] = [[]];
  for (const size of Object.values(sizes))
    cases = cases.flatMap((given) => Array.from({ length: size }, (_, at) => [...given, at]));
  const values = cases.map((given) => of(...(given as Parameters<typeof of>)));
  const index = Object.entries(sizes).reduce((so, [param, size]) => `(${so}*${size}+(${param}))`, "0");
  return `hidden byte ${name}_[${values.length}] = { ${values.join(", ")} };
#define ${name}(${Object.keys(sizes).join(", ")}) ${name}_[${index}]`;
}
