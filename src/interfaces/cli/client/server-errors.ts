import { whatToChange, type EndedWait } from "../../../application/ports/lock-errors";
import { adviseOnSettings } from "../lock-advice";
import type { ServerAddress } from "./server-client";

/** What the server calls a limit that came with the request. */
const PREFERRED = "Prefer: wait";

/** RFC 9457, as far as the command line looks at it. */
export interface ServerProblem {
  readonly status: number;
  readonly code: string;
  readonly detail: string;
  readonly errors?: readonly {
    readonly pointer?: string;
    readonly parameter?: string;
    readonly detail: string;
  }[];
  readonly [fact: string]: unknown;
}

/** Null for what is no problem as this service tells one. */
export function problemOf(body: Readonly<Record<string, unknown>> | null): ServerProblem | null {
  if (body === null) return null;
  const { status, code, detail } = body;
  const isProblem = typeof status === "number" && typeof code === "string" && typeof detail === "string";
  return isProblem ? (body as ServerProblem) : null;
}

/** Nobody answers, or somebody who is not ours. */
export class UnreachableServerError extends Error {
  override readonly name = "UnreachableServerError";
  readonly code = "service_unavailable";

  constructor(
    { url, urlSource }: ServerAddress,
    reason: string,
    /** What was sent may have been carried out. */
    readonly mayHaveActed: boolean,
  ) {
    super(
      `no server at ${url} (${urlSource}): ${reason}; start one with holdfast serve, or choose another with --url`,
    );
  }
}

/** The server's own refusal, in its words. */
export class ServerRefusal extends Error {
  override readonly name = "ServerRefusal";
  readonly code:
    | "refused"
    | "usage"
    | "try_again"
    | "bad_configuration"
    | "lock_timeout"
    | "lock_lost"
    | "service_unavailable";
  /** Of a refusal that ended a wait at the server. */
  readonly wait: EndedWait | undefined;

  constructor(
    readonly problem: ServerProblem,
    address: Pick<ServerAddress, "waitSource">,
  ) {
    const wait = waitOf(problem, address);
    super(inWords(problem, wait));
    this.code = kindOf(problem);
    this.wait = wait;
  }
}

/** The gateway has not told what became of it. */
export class OutcomeUnknownError extends Error {
  override readonly name = "OutcomeUnknownError";
  readonly code = "try_again";
}

const NEVER_OTHERWISE: ReadonlySet<ServerRefusal["code"]> = new Set([
  "refused",
  "usage",
  "bad_configuration",
]);

/** Whether the same command, with the same key, may end otherwise. */
export function isWorthRepeating(error: unknown): boolean {
  return (
    error instanceof UnreachableServerError ||
    (error instanceof ServerRefusal && !NEVER_OTHERWISE.has(error.code))
  );
}

function kindOf({ status, code, outcome }: ServerProblem): ServerRefusal["code"] {
  if (code === "lock_timeout" || code === "lock_lost") return code;
  if (code === "idempotency_key_in_use" || code === "payment_busy" || code.endsWith("_in_progress")) {
    return "try_again";
  }
  // Of a store that fails: what was asked for may be stored, and is found by its key.
  if (code === "service_unavailable" && outcome === "unknown") return "try_again";
  if (code === "secrets_key_missing" || code === "secrets_key_wrong") return "bad_configuration";
  if (code === "gateway_access_refused") return "bad_configuration";
  if (status === 400) return "usage";
  return status >= 500 ? "service_unavailable" : "refused";
}

/** Some of what limits a wait is nobody's setting. */
const SETTING = /^(--|HOLDFAST_|\[locking|built-in default)/;

/** What the server calls a preference of its caller was set here, and what it set itself cannot be set here. */
function waitOf(
  { waitedMs, limit, source, scope }: ServerProblem,
  { waitSource }: Pick<ServerAddress, "waitSource">,
): EndedWait | undefined {
  if (typeof waitedMs !== "number" || typeof source !== "string") return undefined;
  if (typeof limit !== "number" && limit !== "infinite") return undefined;
  return {
    waitedMs,
    limit: {
      timeout: limit === "infinite" ? limit : limit * 1_000,
      source: source === PREFERRED ? waitSource : SETTING.test(source) ? `the server (${source})` : source,
    },
    ...(typeof scope === "string" ? { scope } : {}),
  };
}

function inWords({ code, detail, errors = [], requestId }: ServerProblem, wait?: EndedWait): string {
  const parts = errors.map((error) => `\n  ${error.pointer ?? error.parameter ?? ""} ${error.detail}`);
  const hint = code === "unauthorized" ? " Set HOLDFAST_API_KEY to a key from holdfast keys create." : "";
  const request = code === "internal_error" ? ` (request ${String(requestId)})` : ` (${code})`;
  // Only where the limit ended the wait is there anything to gain by another one.
  const limit =
    wait === undefined || code !== "lock_timeout"
      ? ""
      : ` ${capitalized(whatToChange(wait.limit, adviseOnSettings))}.`;
  return `${detail}${limit}${hint}${request}${parts.join("")}`;
}

function capitalized(words: string): string {
  return `${words.slice(0, 1).toUpperCase()}${words.slice(1)}`;
}
