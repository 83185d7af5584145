import type { Act } from "../../src/application/audit/act";

/** Of somebody, from somewhere: for tests that are not about who did something. */
export const anAct: Act = {
  actor: { type: "user", name: "tester" },
  origin: { over: "command", host: "here" },
  reason: null,
};
