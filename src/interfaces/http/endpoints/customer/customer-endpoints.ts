import type { SandboxWorld } from "../../../../application/sandboxes/world/sandbox-world";
import type { Endpoint } from "../endpoint";
import { ownedProblems, type SandboxParts } from "../sandboxes/sandbox-parts";
import { actAsCustomer } from "./act-as-customer";
import { CUSTOMER_PAGES, type CustomerParts, type CustomerWorld } from "./customer-parts";
import { showCustomerPage } from "./show-customer-page";

/** For the customers of live payments of a simulated gateway. */
export const customerEndpoints: readonly Endpoint<CustomerParts>[] = [showCustomerPage, actAsCustomer];

/** The same in each sandbox. */
export const sandboxCustomerEndpoints: readonly Endpoint<Pick<SandboxParts, "sandboxes" | "ownUrl">>[] =
  customerEndpoints.map((live) => ({
    ...live,
    path: live.path.replace(CUSTOMER_PAGES, `${CUSTOMER_PAGES}/sandboxes/:sandboxId`),
    operationId: `${live.operationId}InSandbox`,
    summary: `In a sandbox: ${live.summary.slice(0, 1).toLowerCase()}${live.summary.slice(1)}`,
    problems: [...new Set([...live.problems, ...ownedProblems])],
    handle: (asked, { sandboxes, ownUrl }) =>
      live.handle(asked, {
        ownUrl,
        inWorld: ({ sandboxId }, work) => {
          if (sandboxId === undefined) throw new Error("the path names no sandbox");
          return sandboxes.useAsCustomer(sandboxId, async (world) => {
            try {
              return await work(customerWorld(world));
            } finally {
              world.deliverSoon();
            }
          });
        },
      }),
  }));

function customerWorld({ payments, customerPages }: SandboxWorld): CustomerWorld {
  return { ...payments, customerPages };
}
