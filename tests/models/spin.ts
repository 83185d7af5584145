import { execFileSync } from "node:child_process";
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { size } from "../support/test-size";

export interface Explored {
  readonly states: number;
  /** What happened before a promise of the model was broken, step by step; null if all of them hold in every state. */
  readonly trace: readonly string[] | null;
}

export interface Exploration {
  /** A file of `models/`. */
  readonly model: "engine.pml" | "lease.pml";
  /** What the model includes and the code knows, by the file's name. */
  readonly generated: Readonly<Record<string, string>>;
  /** The model's -D options. */
  readonly chosen: Readonly<Record<string, string | number | true>>;
  /** Whether what has to happen at last is asked about as well, and not only what must never happen. */
  readonly isAboutProgress?: boolean;
  /** Looks for the shortest trace, among short ones alone: it tells nothing about a model without a fault. */
  readonly isShort?: boolean;
}

/** Of what is visited in brief, compiling with more takes longer than it saves. */
const OPTIMIZED = size("-O1", "-O0");

/** Visits every state of a model. */
export function explore(exploration: Exploration): Explored {
  const { model, generated, chosen, isAboutProgress = false, isShort = false } = exploration;
  const folder = mkdtempSync(join(tmpdir(), "holdfast-model-"));
  const run = (command: string, args: readonly string[]) =>
    execFileSync(command, args, {
      cwd: folder,
      encoding: "utf8",
      stdio: ["ignore", "pipe", "pipe"],
      // A model with tables says all of them after a trace.
      maxBuffer: 64 * 1024 * 1024,
    });
  try {
    copyFileSync(modelFile(model), join(folder, model));
    for (const [name, text] of Object.entries(generated)) writeFileSync(join(folder, name), text);
    const options = Object.entries(chosen).map(([name, value]) =>
      value === true ? `-D${name}` : `-D${name}=${value}`,
    );
    run("spin", ["-a", ...options, model]);
    const search = [...(isAboutProgress ? [] : ["-DSAFETY"]), ...(isShort ? ["-DREACH"] : [])];
    run("gcc", [OPTIMIZED, "-w", "-DCOLLAPSE", ...search, "-o", "pan", "pan.c"]);
    const depth = isShort ? ["-m300", "-i"] : ["-m1000000"];
    const said = run("./pan", [...depth, ...(isAboutProgress ? ["-a"] : [])]);
    const found = (pattern: RegExp): number => Number(pattern.exec(said)?.[1] ?? NaN);
    if (!isShort && /max search depth too small/.test(said)) throw new Error(said);
    const states = found(/(\d+) states, stored/);
    if (found(/errors: (\d+)/) === 0) return { states, trace: null };
    const steps = run("spin", ["-t", ...options, model]).split("\n");
    return { states, trace: stepsIn(steps) };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** The model's own words, in the order of the steps; Spin indents them by process. */
function stepsIn(lines: readonly string[]): string[] {
  return lines.map((line) => line.trim()).filter((line) => /^(?:\d|gateway|service|time) [a-z]/.test(line));
}

/** The planted faults that a model names in its head. */
export function faultsOf(model: Exploration["model"]): string[] {
  const head = readFileSync(modelFile(model), "utf8").split("*/")[0] ?? "";
  return [...head.matchAll(/^ \* {3}([A-Z_]+) /gm)].map(([, name]) => name as string);
}

function modelFile(model: string): string {
  return join(__dirname, "../../models", model);
}
