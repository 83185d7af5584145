import type { VNode } from "preact";
import { h } from "./h";

const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/** `2026-03-04 12:00:00`, in UTC as everywhere here. */
export function when(at: Date): VNode {
  const iso = at.toISOString();
  return h("time", { dateTime: iso, title: iso }, iso.slice(0, 19).replace("T", " "));
}

/** How long ago it was, for people who look for what has waited longest. */
export function ago(at: Date, now: Date): VNode {
  const iso = at.toISOString();
  return h(
    "time",
    { dateTime: iso, title: iso, class: "ago" },
    `${duration(now.getTime() - at.getTime())} ago`,
  );
}

/** In the two units that say most: `3 d 4 h`, `41 ms`. */
export function duration(ms: number): string {
  if (ms < 0) return "0 ms";
  if (ms < SECOND_MS) return `${Math.round(ms)} ms`;
  if (ms < MINUTE_MS) return `${(ms / SECOND_MS).toFixed(ms < 10 * SECOND_MS ? 1 : 0)} s`;
  if (ms < HOUR_MS) return `${Math.floor(ms / MINUTE_MS)} min`;
  if (ms < DAY_MS) return inTwo(ms, HOUR_MS, "h", MINUTE_MS, "min");
  return inTwo(ms, DAY_MS, "d", HOUR_MS, "h");
}

function inTwo(ms: number, large: number, largeName: string, small: number, smallName: string): string {
  const rest = Math.floor((ms % large) / small);
  return `${Math.floor(ms / large)} ${largeName}${rest === 0 ? "" : ` ${rest} ${smallName}`}`;
}
