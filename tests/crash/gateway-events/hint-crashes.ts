import { size } from "../../support/test-size";
import type { CrashPoint } from "../crash-point";
import type { HintMistake } from "./hint-mistakes";
import { situations, type Situation, type SituationName } from "./hint-situations";

/** How Stripe's word comes to us. */
export type Way = "by a webhook" | "by the list";

/** A point at which a process dies, with these situations of payments at it. */
export interface HintCrash {
  readonly way: Way;
  readonly point: CrashPoint;
  /** Each of them has come there when the process dies; else one is enough, and the others are wherever they are. */
  readonly together: boolean;
  readonly of: readonly SituationName[];
  /** Of the process that dies there. */
  readonly mistake?: HintMistake;
}

const all = Object.keys(situations) as SituationName[];
const writtenBy = (step: Situation["written"]) => all.filter((name) => situations[name].written === step);

const by = (way: Way, point: CrashPoint, together = true, of = all): HintCrash => ({
  way,
  point,
  together,
  of,
});

/** One after the other. A process dies at each point of the way of a hint, and the next one goes on from what is stored. */
export const hintCrashes: readonly HintCrash[] = [
  by("by a webhook", "before receive"),
  by("by a webhook", "after receive"),
  by("by a webhook", "after lend", false),
  by("by a webhook", "before find"),
  by("by a webhook", "after find"),
  by("by a webhook", "before settle", true, writtenBy("settle")),
  by("by a webhook", "after settle", true, writtenBy("settle")),
  by("by a webhook", "before picture"),
  by("by a webhook", "after picture"),
  by("by a webhook", "before observe", true, writtenBy("observe")),
  by("by a webhook", "after observe", true, writtenBy("observe")),
  by("by a webhook", "before done with"),
  by("by a webhook", "after done with"),
  by("by the list", "before list", false),
  by("by the list", "after list", false),
  by("by the list", "before receive", false),
  by("by the list", "after receive", false),
  by("by the list", "before position", false),
  by("by the list", "after position", false),
];

/**
 * Which of them one process dies at together. At full size each has a process of its own; in brief, only those for which a
 * loan of everything that is due, or the one list, waits, and mistakes.
 */
export function inProcesses(crashes: readonly HintCrash[]): readonly (readonly HintCrash[])[] {
  const isAlone = ({ together, mistake }: HintCrash) => size(true, !together || mistake !== undefined);
  const shared = crashes.filter((crash) => !isAlone(crash));
  return [...(shared.length === 0 ? [] : [shared]), ...crashes.filter(isAlone).map((crash) => [crash])];
}

/** One payment, what happened to it, and where the process died that Stripe told of it. */
export interface HintCell {
  readonly name: string;
  readonly situation: SituationName;
  readonly crash: HintCrash;
}

export function cellsOf(crashes: readonly HintCrash[]): readonly HintCell[] {
  return crashes.flatMap((crash) =>
    crash.of.map((situation) => ({
      name: `${situation}, told ${crash.way}, crash ${crash.point}${crash.mistake === undefined ? "" : `, ${crash.mistake}`}`,
      situation,
      crash,
    })),
  );
}
