import type { Model, Span } from "./span";

/** Steps of its own that an object may take one after another: small models need no more. */
const MOST_STEPS_OF_ITS_OWN = 3;

/** The question of `checkSpans` in its plainest words, for small histories: does any order of effects fit? */
export function canBeOrdered<State, Call>(
  model: Model<State, Call>,
  spans: readonly Span<Call>[],
  state: State = model.initial,
  now = -Infinity,
  ownSteps = 0,
): boolean {
  if (spans.every(({ required }) => !required)) return true;
  const firstEnd = Math.min(...spans.filter(({ required }) => required).map(({ end }) => end));
  for (const span of spans) {
    // What has to be over before this one begins is not over yet; or this one was over before the last one began.
    if (span.begin > firstEnd || span.end < now) continue;
    const others = spans.filter((other) => other !== span);
    const at = Math.max(now, span.begin);
    if (model.apply(state, span.call).some((next) => canBeOrdered(model, others, next, at))) return true;
  }
  if (ownSteps === MOST_STEPS_OF_ITS_OWN) return false;
  return (model.onItsOwn?.(state) ?? []).some((next) => canBeOrdered(model, spans, next, now, ownSteps + 1));
}
