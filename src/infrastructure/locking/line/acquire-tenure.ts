import {
  LockContentionError,
  LockPermitsError,
  type LockError,
} from "../../../application/ports/lock-errors";
import { BackOff } from "./back-off";
import type { Tenure } from "../lock-backend";
import { isPermanent, type Answer, type Bid } from "./bid";
import type { Line } from "./line";
import type { Wait } from "./wait";
import { WakeUp } from "./wake-up";

/** Room for the last answer to arrive before the deadline. */
const LAST_CALL_MS = 5;
/** A last attempt that follows the one before it by less than this would learn nothing new. */
const SHORTEST_SLEEP_MS = 10;

/**
 * The one acquire loop: asks, leaves the backend alone, asks again. The caller is told at its deadline, and at once
 * when it is cancelled, whatever an attempt under way is doing; that attempt is left to whoever is next in front.
 * `contentionIsFinal`: a live waiter of another process in the only place there is ends the wait at once.
 */
export async function acquireTenure(
  wait: Wait,
  line: Line,
  bid: Bid,
  contentionIsFinal = false,
): Promise<Tenure> {
  const { clock } = wait.settings;
  const backOff = new BackOff(wait.settings.random);
  const wakeUp = new WakeUp(clock);
  const { purpose } = wait.options;
  wait.arm(line);
  const mayWait = !wait.isSingleAttempt;
  const request = {
    mayWait,
    ...(contentionIsFinal && { onlyNext: true }),
    ...(purpose !== undefined && { purpose }),
  };
  try {
    for (let attempt = 1; ; attempt += 1) {
      wait.check();
      if (attempt > 1) wait.retry(attempt);
      const askedMs = clock.monotonicMs();
      const answer = await wait.orGivenUp<Answer>((resolve) => {
        void bid.ask(request).then(resolve);
        return () => {};
      });
      const answeredMs = clock.monotonicMs();
      if (answer.kind === "acquired") {
        // In one run to completion: a wait that was given up meanwhile leaves the answer for the next in front.
        wait.succeed();
        bid.take(answer);
        return answer.tenure;
      }
      bid.take(answer);
      note(answer, line, answeredMs);
      const verdict = finalVerdict(answer, wait, contentionIsFinal);
      if (verdict !== undefined) wait.giveUp(verdict);
      wait.check();
      wait.begin(line);
      // Listening begins before the next attempt: a release between its answer and the sleep cuts the sleep short.
      wakeUp.listenTo(bid);
      // How long nobody answered says nothing of how long the next answer takes.
      const attemptMs = answer.kind === "failed" ? 0 : answeredMs - askedMs;
      const delayMs = sleepMs(
        Math.min(backOff.next(), turnInMs(answer, answeredMs)),
        wait.remainingMs,
        attemptMs,
      );
      if ((await wait.orGivenUp((resolve) => wakeUp.sleep(delayMs, resolve))) === "woken") backOff.restart();
    }
  } finally {
    wakeUp.stopListening();
  }
}

function note(answer: Exclude<Answer, { kind: "acquired" }>, line: Line, nowMs: number): void {
  if (answer.kind === "failed") {
    line.failure = answer.error;
    return;
  }
  line.refused(answer, nowMs);
}

function finalVerdict(answer: Answer, wait: Wait, contentionIsFinal: boolean): LockError | undefined {
  if (answer.kind === "failed" && answer.error instanceof LockPermitsError) return answer.error;
  if (answer.kind === "failed" && isPermanent(answer.error)) return wait.unavailable(answer.error);
  if (answer.kind === "contended" && (contentionIsFinal || wait.isSingleAttempt))
    return new LockContentionError(wait.resourceId, answer.waitingOwnerId, answer.holder, wait.soFar);
  return wait.isSingleAttempt ? wait.outOfTime() : undefined;
}

/** When the backend expects to let us in, it is asked then: those behind us count on it. Infinity if it expects nothing. */
function turnInMs(answer: Answer, nowMs: number): number {
  if (answer.kind === "failed" || answer.kind === "acquired" || answer.turnMs === undefined) return Infinity;
  const inMs = answer.turnMs - nowMs;
  return inMs > 0 ? Math.max(Math.ceil(inMs), SHORTEST_SLEEP_MS) : Infinity;
}

/** Cuts the last sleep, so that the last answer is there at the deadline; after that there is nothing but the deadline. */
function sleepMs(backOffMs: number, remainingMs: number, lastAttemptMs: number): number {
  const untilLastCallMs = remainingMs - lastAttemptMs - LAST_CALL_MS;
  if (backOffMs <= untilLastCallMs) return backOffMs;
  return untilLastCallMs >= SHORTEST_SLEEP_MS ? untilLastCallMs : Infinity;
}
