import { size } from "../support/test-size";
import { explore } from "./capture-model";

describe.each([
  { locked: true, crashes: 0, reconcilerTurns: 2 },
  { locked: true, crashes: 1, reconcilerTurns: 2 },
  ...size(
    [
      { locked: false, crashes: 0, reconcilerTurns: 2 },
      { locked: false, crashes: 1, reconcilerTurns: 1 },
    ],
    [],
  ),
])(
  "every interleaving with lock $locked and $crashes crash(es), the reconciler coming $reconcilerTurns time(s)",
  (rules) => {
    test("moves money at most once", () => {
      const { violation, states } = explore({ ...rules, absenceCloses: false });
      expect(violation).toBeNull();
      // Far fewer would mean that the model has stopped before the interesting part.
      expect(states).toBeGreaterThan(rules.locked ? 500 : 5_000);
    }, 120_000);

    test("moves it twice once absence closes an operation", () => {
      const { violation } = explore({ ...rules, absenceCloses: true });
      expect(violation?.at(-1)).toBe("money moved twice");
    });
  },
);
