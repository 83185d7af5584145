import { appendFileSync } from "node:fs";

/** `npm run storm`: storms at full size. */
export const isFullStorm = process.env["HOLDFAST_STORM"] === "full";

/** In each of its rounds, callers decide otherwise. */
export function stormSeed(seed: number): number {
  return seed + 1_000 * Number(process.env["HOLDFAST_STORM_ROUND"] ?? "0");
}

export interface JudgedStorm {
  /** Requests of callers, or tenures of a lock. */
  readonly judged: number;
  readonly kills: number;
}

/** For the table of `npm run storm`: what was judged good. */
export function reportStorm(storm: JudgedStorm): void {
  const file = process.env["HOLDFAST_STORM_REPORT"];
  if (file !== undefined) appendFileSync(file, `${JSON.stringify(storm)}\n`);
}
