import { setTimeout as pause } from "node:timers/promises";
import type { Fault } from "./fault-plan";

/** What may become of a request to a bucket, by how a test says it. `until` begins with the request. */
export const faults: Record<string, Fault> = {
  "is dropped": { kind: "reset" },
  "is applied, and its answer dropped": { kind: "lose-answer" },
  "has an answer that breaks off": { kind: "tear", then: "reset" },
  "has an answer that is cut and says that it is whole": { kind: "cut", bytes: 40 },
  hangs: { kind: "stall" },
  "is applied, and its answer hangs": { kind: "stall-answer" },
  "has an answer that hangs in its middle": { kind: "tear", then: "stall" },
  "is delayed": {
    kind: "hold",
    get until() {
      return pause(300);
    },
  },
  "is dropped, and applied late": {
    kind: "land-late",
    get until() {
      return pause(900);
    },
  },
  "is answered by somebody else": { kind: "page", status: 200, content: "<html>Sign in</html>" },
};
