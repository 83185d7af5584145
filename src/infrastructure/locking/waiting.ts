import { LockContentionError, type LockError } from "../../application/ports/lock-errors";
import { BackOff } from "./back-off";
import type { Tenure } from "./lock-backend";
import { isPermanent, type Answer, type RemotePlace } from "./remote-place";
import type { Standing } from "./standing";
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
  standing: Standing,
  place: RemotePlace,
  contentionIsFinal = false,
): Promise<Tenure> {
  const { clock } = wait.settings;
  const backOff = new BackOff(wait.settings.random);
  const wakeUp = new WakeUp(clock);
  const { purpose } = wait.options;
  wait.arm(standing);
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
        void place.ask(request).then(resolve);
        return () => {};
      });
      const answeredMs = clock.monotonicMs();
      if (answer.kind === "acquired") {
        // In one run to completion: a wait that was given up meanwhile leaves the answer for the next in front.
        wait.succeed();
        place.take(answer);
        return answer.tenure;
      }
      place.take(answer);
      note(answer, standing, answeredMs);
      const verdict = finalVerdict(answer, wait, contentionIsFinal);
      if (verdict !== undefined) wait.giveUp(verdict);
      wait.check();
      wait.begin(standing);
      // Listening begins before the next attempt: a release between its answer and the sleep cuts the sleep short.
      wakeUp.listenTo(place);
      // How long nobody answered says nothing of how long the next answer takes.
      const attemptMs = answer.kind === "failed" ? 0 : answeredMs - askedMs;
      const delayMs = sleepMs(backOff.next(), wait.remainingMs, attemptMs);
      if ((await wait.orGivenUp((resolve) => wakeUp.sleep(delayMs, resolve))) === "woken") backOff.restart();
    }
  } finally {
    wakeUp.stopListening();
  }
}

function note(answer: Exclude<Answer, { kind: "acquired" }>, standing: Standing, nowMs: number): void {
  if (answer.kind === "failed") {
    standing.failure = answer.error;
    return;
  }
  standing.failure = undefined;
  standing.holder = answer.holder;
  standing.advice = answer.kind === "held" ? answer.advice : undefined;
  standing.contendedAtMs = nowMs;
}

function finalVerdict(answer: Answer, wait: Wait, contentionIsFinal: boolean): LockError | undefined {
  if (answer.kind === "failed" && isPermanent(answer.error)) return wait.unavailable(answer.error);
  if (answer.kind === "contended" && (contentionIsFinal || wait.isSingleAttempt))
    return new LockContentionError(wait.resourceId, answer.waitingOwnerId, answer.holder, wait.soFar);
  return wait.isSingleAttempt ? wait.outOfTime() : undefined;
}

/** Cuts the last sleep, so that the last answer is there at the deadline; after that there is nothing but the deadline. */
function sleepMs(backOffMs: number, remainingMs: number, lastAttemptMs: number): number {
  const untilLastCallMs = remainingMs - lastAttemptMs - LAST_CALL_MS;
  if (backOffMs <= untilLastCallMs) return backOffMs;
  return untilLastCallMs >= SHORTEST_SLEEP_MS ? untilLastCallMs : Infinity;
}
