import type { Row } from "./row";

/** What a suite is given. */
export interface Bench {
  /** The tiny size shows that a suite still runs; its figures mean nothing. */
  readonly tiny: boolean;
  /** A number for the full size and one for the tiny size. */
  size(full: number, tiny: number): number;
  /** One in the tiny size, a third in the short one. */
  rounds(full: number): number;
  report(row: Row): void;
  /** A finding that is no figure. */
  tell(finding: string): void;
  /** A server or program that a part needs is not there: said, and left out. */
  leaveOut(part: string, why: string): void;
}

export type Suite = (bench: Bench) => Promise<void>;
