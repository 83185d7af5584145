import type { SandboxWorld } from "../../../../application/sandboxes/world/sandbox-world";
import type { SandboxId } from "../../../../application/sandboxes/sandbox-ids";
import { callerOf } from "../../requests/request-context";
import { CUSTOMER_PAGES } from "../customer/customer-parts";
import type { Endpoint } from "../endpoint";
import { observePayment } from "../gateway/observe-payment";
import { paymentEndpoints } from "../payments/payment-endpoints";
import { webhookEndpoints } from "../webhooks/webhook-endpoints";
import { attachSandbox } from "./attach-sandbox";
import { checkpointSandbox } from "./checkpoint-sandbox";
import { createSandbox } from "./create-sandbox";
import { deleteSandbox } from "./delete-sandbox";
import { listSandboxes } from "./list-sandboxes";
import { moveSandboxClock } from "./move-sandbox-clock";
import { ownedProblems, type SandboxParts } from "./sandbox-parts";
import { showSandbox } from "./show-sandbox";

/** Sandboxes, and in each of them the very endpoints of live payments over its own world. */
export const sandboxEndpoints: readonly Endpoint<SandboxParts>[] = [
  createSandbox,
  listSandboxes,
  showSandbox,
  attachSandbox,
  checkpointSandbox,
  moveSandboxClock,
  deleteSandbox,
  ...paymentEndpoints.map((live) =>
    inSandbox(live, (lend, parts, sandboxId) => ({
      ...parts,
      inWorld: (work) => lend(({ payments }) => work(payments)),
      customerUrl: (path) => `${parts.ownUrl()}${CUSTOMER_PAGES}/sandboxes/${sandboxId}${path}`,
    })),
  ),
  inSandbox(observePayment, (lend, parts) => ({
    ...parts,
    observePayment: {
      execute: (...asked) => lend(({ payments }) => payments.observePayment.execute(...asked)),
    },
  })),
  ...webhookEndpoints.map((live) => inSandbox(live, (inWebhooks, parts) => ({ ...parts, inWebhooks }))),
];

type Lend = <T>(work: (world: SandboxWorld) => Promise<T>) => Promise<T>;

function inSandbox<Parts>(
  live: Endpoint<Parts>,
  partsOf: (lend: Lend, parts: SandboxParts, sandboxId: SandboxId) => Parts,
): Endpoint<SandboxParts> {
  const full = live.path === "/payments" ? (["sandbox_full"] as const) : [];
  return {
    ...live,
    path: `/sandboxes/:sandboxId${live.path}`,
    operationId: `${live.operationId}InSandbox`,
    tag: "Sandboxes",
    // All of a sandbox is its merchant's: there is nobody else whose payments an operator would have to look at.
    access: "merchant",
    summary: `In a sandbox: ${live.summary.slice(0, 1).toLowerCase()}${live.summary.slice(1)}`,
    problems: [...new Set([...live.problems, ...ownedProblems, ...full])],
    handle: (asked, parts) => {
      const { sandboxId } = asked.ids;
      if (sandboxId === undefined) throw new Error("the path names no sandbox");
      const { merchant } = callerOf(asked.response);
      const lend: Lend = (work) =>
        parts.sandboxes.use(sandboxId, merchant, async (world) => {
          try {
            return await work(world);
          } finally {
            world.deliverSoon();
          }
        });
      return live.handle(asked, partsOf(lend, parts, sandboxId));
    },
  };
}
