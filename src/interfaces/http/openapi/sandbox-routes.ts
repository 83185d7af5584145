import { pageQuery } from "../endpoints/payments/payment-requests";
import type { ProblemCode } from "../problems/problem-table";
import type { DocumentedRoute } from "./documented-route";
import { paymentRoutes } from "./payment-routes";

/** What any request to one sandbox can be told. */
const owned: readonly ProblemCode[] = [
  "invalid_sandbox_id",
  "sandbox_not_found",
  "sandbox_elsewhere",
  "sandbox_contended",
  "sandbox_lost",
  "sandbox_limit_reached",
  "snapshot_damaged",
  "snapshot_missing",
  "snapshot_store_unavailable",
  "lock_unavailable",
];

const ownRoutes: readonly DocumentedRoute[] = [
  {
    method: "post",
    path: "/sandboxes",
    operationId: "createSandbox",
    tag: "Sandboxes",
    summary: "Make a payments world of your own",
    description:
      "Empty, or as a snapshot has it: that is how to fork one, and how to go back. It has its own clock, which " +
      "stands still, and its own simulated gateway. Never for live money: what came after the last checkpoint may be lost.",
    access: "merchant",
    body: "NewSandboxRequest",
    answers: [{ status: 201, description: "Made.", schema: "OneSandbox", headers: ["Location"] }],
    problems: [
      "snapshot_not_found",
      "snapshot_damaged",
      "snapshot_missing",
      "sandbox_limit_reached",
      "sandbox_lost",
      "sandbox_too_large",
      "snapshot_store_unavailable",
      "lock_unavailable",
      "lock_timeout",
    ],
  },
  {
    method: "get",
    path: "/sandboxes",
    operationId: "listSandboxes",
    tag: "Sandboxes",
    summary: "List your sandboxes, newest first",
    access: "merchant",
    query: pageQuery,
    answers: [{ status: 200, description: "One page.", schema: "SandboxList" }],
    problems: ["invalid_request", "snapshot_store_unavailable"],
  },
  {
    method: "get",
    path: "/sandboxes/{sandboxId}",
    operationId: "showSandbox",
    tag: "Sandboxes",
    summary: "Show a sandbox: its owner, clock and snapshots",
    access: "merchant",
    answers: [{ status: 200, description: "As it is now.", schema: "OneSandbox" }],
    problems: owned,
  },
  {
    method: "post",
    path: "/sandboxes/{sandboxId}/attach",
    operationId: "attachSandbox",
    tag: "Sandboxes",
    summary: "Bring a sandbox to this instance",
    description:
      "Asks its owner for it, who finishes what is under way, checkpoints it and lets go. One instance waits at a time.",
    access: "merchant",
    answers: [{ status: 200, description: "It is here.", schema: "OneSandbox" }],
    problems: [...owned, "lock_timeout"],
  },
  {
    method: "post",
    path: "/sandboxes/{sandboxId}/checkpoint",
    operationId: "checkpointSandbox",
    tag: "Sandboxes",
    summary: "Take a snapshot, and keep it until the sandbox is deleted",
    access: "merchant",
    answers: [{ status: 201, description: "Taken.", schema: "OneSnapshot" }],
    problems: [...owned, "sandbox_too_large"],
  },
  {
    method: "post",
    path: "/sandboxes/{sandboxId}/clock",
    operationId: "moveSandboxClock",
    tag: "Sandboxes",
    summary: "Move the sandbox's clock forward",
    description:
      "Whatever falls due on the way happens at its own time: authorizations expire, the gateway is asked again.",
    access: "merchant",
    body: "ClockRequest",
    answers: [{ status: 200, description: "Moved.", schema: "OneSandbox" }],
    problems: [...owned, "clock_not_movable"],
  },
  {
    method: "delete",
    path: "/sandboxes/{sandboxId}",
    operationId: "deleteSandbox",
    tag: "Sandboxes",
    summary: "Delete a sandbox with all its snapshots",
    access: "merchant",
    answers: [{ status: 200, description: "Gone.", schema: "DeletedSandbox" }],
    problems: owned,
  },
];

const full: readonly ProblemCode[] = ["sandbox_full"];

/** The payments routes once more, over a sandbox's world. */
const inSandbox: readonly DocumentedRoute[] = paymentRoutes.map((route) => ({
  ...route,
  path: `/sandboxes/{sandboxId}${route.path}`,
  operationId: `${route.operationId}InSandbox`,
  tag: "Sandboxes",
  summary: `In a sandbox: ${route.summary.slice(0, 1).toLowerCase()}${route.summary.slice(1)}`,
  problems: [...new Set([...route.problems, ...owned, ...(route.path === "/payments" ? full : [])])],
}));

export const sandboxRoutes: readonly DocumentedRoute[] = [...ownRoutes, ...inSandbox];
