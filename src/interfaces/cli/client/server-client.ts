import { budgets } from "../../../application/time-budgets";
import { problemOf, ServerRefusal, UnreachableServerError } from "./server-errors";

/** Where client commands find their server, and as whom they ask. */
export interface ServerAddress {
  readonly url: string;
  /** Who said so, for messages. */
  readonly urlSource: string;
  readonly apiKey: string | null;
  /** How long the server is to wait for a payment's lock at most; null: as long as it likes. */
  readonly waitSeconds: number | null;
  /** Who said so. */
  readonly waitSource: string;
  /** Why something is done, for the audit. */
  readonly reason: string | null;
}

export interface ServerAnswer {
  readonly status: number;
  readonly replayed: boolean;
  readonly body: Readonly<Record<string, unknown>>;
}

/** Longer than the server takes at most. */
const ANSWER_WITHIN_MS = budgets.httpMs + 5_000;

/** Talks to a running server. Each method rejects with an error that says what to do about it. */
export class ServerClient {
  constructor(private readonly address: ServerAddress) {}

  get(
    path: string,
    query: Readonly<Record<string, string | undefined>> = {},
    signal?: AbortSignal,
  ): Promise<ServerAnswer> {
    const said = Object.entries(query).filter((entry): entry is [string, string] => entry[1] !== undefined);
    const search = new URLSearchParams(said).toString();
    return this.send(
      "GET",
      search === "" ? path : `${path}?${search}`,
      signal === undefined ? {} : { signal },
    );
  }

  post(path: string, body: object, idempotencyKey?: string): Promise<ServerAnswer> {
    const { waitSeconds } = this.address;
    return this.send("POST", path, {
      headers: {
        "Content-Type": "application/json",
        ...(idempotencyKey === undefined ? {} : { "Idempotency-Key": idempotencyKey }),
        ...(waitSeconds === null ? {} : { Prefer: `wait=${waitSeconds}` }),
      },
      body: JSON.stringify(body),
    });
  }

  patch(path: string, body: object): Promise<ServerAnswer> {
    const headers = { "Content-Type": "application/json" };
    return this.send("PATCH", path, { headers, body: JSON.stringify(body) });
  }

  delete(path: string): Promise<ServerAnswer> {
    return this.send("DELETE", path, {});
  }

  private async send(
    method: string,
    path: string,
    { headers = {}, body, signal }: { headers?: Record<string, string>; body?: string; signal?: AbortSignal },
  ): Promise<ServerAnswer> {
    const { url, apiKey, reason: why } = this.address;
    const inTime = AbortSignal.timeout(ANSWER_WITHIN_MS);
    let answer: Response;
    let text: string;
    try {
      answer = await fetch(url + path, {
        method,
        headers: {
          Accept: "application/json",
          ...headers,
          ...(why === null || method === "GET" ? {} : { "Holdfast-Reason": encodeURIComponent(why) }),
          ...(apiKey === null ? {} : { Authorization: `Bearer ${apiKey}` }),
        },
        // Whoever is sent elsewhere would show the key there, too.
        redirect: "manual",
        signal: signal === undefined ? inTime : AbortSignal.any([inTime, signal]),
        body: body ?? null,
      });
      text = await answer.text();
    } catch (error) {
      throw new UnreachableServerError(this.address, reasonOf(error), method !== "GET");
    }
    const sent = parsed(text);
    if (answer.ok && sent !== null) {
      return {
        status: answer.status,
        replayed: answer.headers.get("idempotency-replayed") === "true",
        body: sent,
      };
    }
    const problem = problemOf(sent);
    if (problem !== null) throw new ServerRefusal(problem, this.address);
    const reason = `the answer (status ${answer.status}) is not from a Holdfast server`;
    throw new UnreachableServerError(this.address, reason, method !== "GET");
  }
}

function parsed(text: string): Readonly<Record<string, unknown>> | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : null;
  } catch {
    return null;
  }
}

/** `fetch` hides what happened in the cause of its error. */
function reasonOf(error: unknown): string {
  const { name, message, cause } = error as { name?: string; message?: string; cause?: { code?: string } };
  if (name === "TimeoutError") return `no answer within ${ANSWER_WITHIN_MS / 1_000} s`;
  return cause?.code ?? message ?? String(error);
}
