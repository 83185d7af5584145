import { SeededRandom } from "../../lease/seeded-random";
import { VirtualTime } from "./virtual-time";

test("a real timer that is ended while time is virtual does not fire", async () => {
  let fired = false;
  const timer = setTimeout(() => (fired = true), 1);
  const putBack = new VirtualTime(
    { name: "the world", isGone: false, frozenUntilMs: 0 },
    new SeededRandom(1),
  ).install();
  clearTimeout(timer);
  putBack();
  await new Promise((resolve) => setTimeout(resolve, 5));
  expect(fired).toBe(false);
});
