import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { OperationKind } from "../../../src/domain/payment/operation";
import { StripeWorld, type Course, type StripeAnswer } from "./stripe-world";

/** Everything that is documented to go wrong, or that networks do. */
export const stripeFaults = [
  "refused",
  "undecided",
  /** Taken, and refused when time passes. */
  "undecided_then_refused",
  /** The authorization ends by itself just before. */
  "lapsed",
  /** Somebody captures it in the dashboard just before. */
  "captured_elsewhere",
  "rate_limited",
  "unauthorized",
  "forbidden",
  "lock_timeout",
  "key_in_use",
  "error_before_acting",
  "stored_500_before_acting",
  "stored_500_after_acting",
  "silent_before_acting",
  "silent_after_acting",
  "lands_late",
  /** A refund succeeds, and fails when time passes. */
  "fails_later",
  /** Done as asked, and then, when time passes, something else is done in the dashboard, or the customer goes to their bank. */
  "captured_elsewhere_later",
  "voided_elsewhere_later",
  "refunded_elsewhere_later",
  "disputed_later",
  "stalls_within_the_answer",
  "reset_before_acting",
  "reset_after_acting",
  "reset_within_the_answer",
  "proxy_page_after_acting",
  "proxy_error_after_acting",
  "empty_object_after_acting",
  "null_after_acting",
] as const;
export type StripeFault = (typeof stripeFaults)[number];

interface Arrived {
  readonly kind: OperationKind | "read";
  readonly path: string;
  readonly body: string;
  readonly key: string;
  readonly query: URLSearchParams;
  /** Of the account that the request is for. */
  readonly world: StripeWorld;
}

/** A Stripe on loopback: its objects, its memory of keys, and its ways to fail. The real client talks to it. */
export class StripeStandIn {
  /** The account of the secret key. */
  readonly world = new StripeWorld();
  /** Those that are connected to it, by their ids. */
  readonly accounts = new Map<string, StripeWorld>();
  /** Accounts that have a key of their own, and need not be connected, by the key. */
  readonly keys = new Map<string, string>();
  /** Keys that may not ask whose they are. */
  readonly restricted = new Set<string>();
  private readonly unconnected = new Map<string, StripeWorld>();
  /** What came, in order, faults included. */
  readonly requests: string[] = [];
  /** Tells of a request that will not be answered, so that a test need not wait for time to pass. */
  onSilence: () => void = () => undefined;
  /** Before the next request of this kind is carried out. */
  readonly armed = new Map<Arrived["kind"], StripeFault[]>();
  private readonly answers = new Map<string, { readonly of: string; answer: StripeAnswer | null }>();
  private readonly late: Arrived[] = [];
  private readonly server: Server = createServer((request, response) => void this.serve(request, response));

  async listen(port = 0): Promise<void> {
    await new Promise<void>((resolve) => this.server.listen(port, "127.0.0.1", resolve));
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }

  arm(kind: Arrived["kind"], ...faults: StripeFault[]): void {
    this.armed.set(kind, [...(this.armed.get(kind) ?? []), ...faults]);
  }

  connect(account: string): StripeWorld {
    const world = new StripeWorld(`${this.accounts.size + 1}_`);
    this.accounts.set(account, world);
    return world;
  }

  /** An account that is not connected: only its own key opens it. */
  own(account: string, key: string): StripeWorld {
    const world = this.unconnected.get(account) ?? new StripeWorld(`own${this.unconnected.size + 1}_`);
    this.unconnected.set(account, world);
    for (const [other, of] of this.keys) if (of === account) this.keys.delete(other);
    this.keys.set(key, account);
    return world;
  }

  /** As after a day: what a key did is no longer known. */
  forgetKeys(): void {
    this.answers.clear();
  }

  /** What was late lands, what was undecided is decided. */
  timePasses(): void {
    for (const arrived of this.late.splice(0)) this.carryOut(arrived, "as asked");
    for (const world of [this.world, ...this.accounts.values(), ...this.unconnected.values()]) world.decide();
  }

  private async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let body = "";
    for await (const chunk of request) body += String(chunk);
    const { pathname: path, searchParams: query } = new URL(request.url ?? "", "http://stripe");
    const kind = kindOf(request.method ?? "", path);
    this.requests.push(`${request.method} ${path}`);
    const key = String(request.headers["idempotency-key"] ?? "");
    const apiKey = /^Bearer ((?:sk|rk)_test_\w+)$/.exec(request.headers.authorization ?? "")?.[1] ?? "";
    const own = this.keys.get(apiKey);
    const isKnown = own !== undefined || apiKey === this.apiKey;
    if (!isKnown) return send(response, unauthorized);
    if (path === "/v1/account") return send(response, this.owner(apiKey));
    const named = request.headers["stripe-account"];
    const account = own ?? named;
    const world = this.worldOf(own, named === undefined ? undefined : String(named));
    if (world === undefined) return send(response, failure(403, "invalid_request_error", "account_invalid"));
    const arrived: Arrived = { kind, path, body, key: `${String(account)} ${key}`, query, world };
    const fault = this.armed.get(kind)?.shift();
    if (fault === undefined) return send(response, this.carryOut(arrived, "as asked"));
    this.fail(fault, arrived, response);
  }

  /** Of the server. */
  apiKey = "sk_test_abc";

  /** Who has a key of their own reaches no other account by naming it. */
  private worldOf(own: string | undefined, named: string | undefined): StripeWorld | undefined {
    if (own !== undefined) return named === undefined ? this.unconnected.get(own) : undefined;
    return named === undefined ? this.world : this.accounts.get(named);
  }

  private owner(apiKey: string): StripeAnswer {
    if (this.restricted.has(apiKey))
      return failure(403, "invalid_request_error", "more_permissions_required");
    return { status: 200, body: { object: "account", id: this.keys.get(apiKey) ?? "acct_server" } };
  }

  /** The same without a socket: null where no answer comes. */
  exchange(method: string, url: string, body: string, key: string): StripeAnswer | null {
    const { pathname: path, searchParams: query } = new URL(url, "http://stripe");
    const kind = kindOf(method, path);
    this.requests.push(`${method} ${path}`);
    const arrived: Arrived = { kind, path, body, key, query, world: this.world };
    const fault = this.armed.get(kind)?.shift();
    switch (fault) {
      case undefined:
        return this.carryOut(arrived, "as asked");
      case "refused":
      case "undecided":
      case "undecided_then_refused":
        return this.carryOut(arrived, fault);
      case "silent_before_acting":
        return null;
      case "silent_after_acting":
        this.carryOut(arrived, "as asked");
        return null;
      case "lands_late":
        this.late.push(arrived);
        return null;
      case "fails_later": {
        const answer = this.carryOut(arrived, "as asked");
        this.world.failLatestRefundLater(kind);
        return answer;
      }
      default:
        throw new Error(`${fault} needs a socket`);
    }
  }

  private fail(fault: StripeFault, arrived: Arrived, response: ServerResponse): void {
    switch (fault) {
      case "refused":
      case "undecided":
      case "undecided_then_refused":
        return send(response, this.carryOut(arrived, fault));
      case "lapsed":
        arrived.world.lapse(arrived.path.split("/")[3] ?? "");
        return send(response, this.carryOut(arrived, "as asked"));
      case "captured_elsewhere":
        arrived.world.captureInDashboard(arrived.path.split("/")[3] ?? "");
        return send(response, this.carryOut(arrived, "as asked"));
      case "rate_limited":
        return send(response, failure(429, "rate_limit_error", "rate_limit"));
      case "lock_timeout":
        return send(response, failure(429, "invalid_request_error", "lock_timeout"));
      case "unauthorized":
        return send(response, unauthorized);
      case "forbidden":
        return send(response, failure(403, "invalid_request_error", "more_permissions_required"));
      case "key_in_use":
        return send(response, inUse);
      case "error_before_acting":
        return send(response, failure(503, "api_error"));
      case "stored_500_before_acting":
        this.answers.set(arrived.key, { of: fingerprint(arrived), answer: failure(500, "api_error") });
        return send(response, failure(500, "api_error"));
      case "stored_500_after_acting": {
        this.carryOut(arrived, "as asked");
        const known = this.answers.get(arrived.key);
        if (known) known.answer = failure(500, "api_error");
        return send(response, failure(500, "api_error"));
      }
      case "silent_before_acting":
        return this.onSilence();
      case "silent_after_acting":
        this.carryOut(arrived, "as asked");
        return this.onSilence();
      case "lands_late":
        this.late.push(arrived);
        return this.onSilence();
      case "fails_later":
        send(response, this.carryOut(arrived, "as asked"));
        return arrived.world.failLatestRefundLater(arrived.kind);
      case "captured_elsewhere_later":
      case "voided_elsewhere_later":
      case "refunded_elsewhere_later":
      case "disputed_later": {
        const answer = this.carryOut(arrived, "as asked");
        send(response, answer);
        return arrived.world.actLater(fault, (answer.body as { id: string }).id);
      }
      case "stalls_within_the_answer":
      case "reset_within_the_answer": {
        const text = JSON.stringify(this.carryOut(arrived, "as asked").body);
        response.writeHead(200, { "content-type": "application/json", "content-length": text.length });
        response.write(text.slice(0, 10), () => {
          if (fault === "reset_within_the_answer") response.socket?.resetAndDestroy();
          else this.onSilence();
        });
        return;
      }
      case "reset_before_acting":
        response.socket?.resetAndDestroy();
        return;
      case "reset_after_acting":
        this.carryOut(arrived, "as asked");
        response.socket?.resetAndDestroy();
        return;
      case "proxy_page_after_acting":
        this.carryOut(arrived, "as asked");
        response.writeHead(200, { "content-type": "text/html" }).end("<h1>Please log in</h1>");
        return;
      case "proxy_error_after_acting":
        this.carryOut(arrived, "as asked");
        return send(response, { status: 502, body: { message: "upstream" } });
      case "empty_object_after_acting":
        this.carryOut(arrived, "as asked");
        return send(response, { status: 200, body: {} });
      case "null_after_acting":
        this.carryOut(arrived, "as asked");
        return send(response, { status: 200, body: null });
    }
  }

  /** The memory of keys lies before the execution, and keeps what comes out of it, whatever that is. */
  private carryOut(arrived: Arrived, course: Course): StripeAnswer {
    if (arrived.kind === "read") return this.read(arrived);
    const of = fingerprint(arrived);
    const known = this.answers.get(arrived.key);
    if (known !== undefined) {
      if (known.of !== of) return failure(400, "idempotency_error");
      return known.answer ?? inUse;
    }
    const entry: { of: string; answer: StripeAnswer | null } = { of, answer: null };
    const answer = this.execute(arrived, course);
    if (answer.beforeExecution !== true) this.answers.set(arrived.key, { ...entry, answer });
    return answer;
  }

  private execute({ kind, path, body, world }: Arrived, course: Course): StripeAnswer {
    const form = new URLSearchParams(body);
    const intentId = path.split("/")[3] ?? "";
    switch (kind) {
      case "authorize":
        return world.create(form, course);
      case "capture":
        return world.capture(intentId, form, course);
      case "void":
        return world.cancel(intentId, form);
      case "refund":
        return world.refund(form, course);
      case "read":
        return failure(405, "invalid_request_error");
    }
  }

  private read({ path, query, world }: Arrived): StripeAnswer {
    if (path === "/v1/payment_intents/search") return world.search(query);
    if (path === "/v1/refunds") return world.listRefunds(query);
    if (path === "/v1/events") return world.events.list(query);
    if (path === "/v1/disputes") return world.listDisputes(query);
    return world.retrieve(path.split("/")[3] ?? "", query);
  }
}

function kindOf(method: string, path: string): Arrived["kind"] {
  if (method !== "POST") return "read";
  if (path === "/v1/payment_intents") return "authorize";
  if (path === "/v1/refunds") return "refund";
  return path.endsWith("/capture") ? "capture" : "void";
}

function fingerprint({ path, body }: Arrived): string {
  return `${path}?${body}`;
}

function failure(status: number, type: string, code?: string): StripeAnswer {
  return { status, body: { error: { type, ...(code === undefined ? {} : { code }), message: "failed" } } };
}

const unauthorized = failure(401, "invalid_request_error");
const inUse = failure(409, "invalid_request_error", "idempotency_key_in_use");

function send(response: ServerResponse, { status, body }: StripeAnswer): void {
  response.writeHead(status, { "content-type": "application/json", "request-id": "req_1" });
  response.end(JSON.stringify(body));
}
