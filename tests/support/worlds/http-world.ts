import { paymentUseCases } from "../../../src/application/payment-use-cases";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import pino from "pino";
import type { LockProvider } from "../../../src/application/ports/lock-provider";
import { builtInLockTimeouts, type LockTimeoutPolicy } from "../../../src/application/ports/lock-timeout";
import type { EventFeed } from "../../../src/application/ports/events/event-feed";
import { InMemoryEventFeed } from "../../../src/infrastructure/persistence/memory/in-memory-event-feed";
import { InMemoryPaymentRepository } from "../../../src/infrastructure/persistence/memory/in-memory-payment-repository";
import { InMemoryAuditTrail } from "../../../src/infrastructure/persistence/memory/in-memory-audit-trail";
import type { PaymentRepository } from "../../../src/application/ports/payment-repository";
import { AuthenticateCaller } from "../../../src/application/use-cases/authenticate-caller";
import { MemoryLockProvider } from "../../../src/infrastructure/locking/memory/memory-lock-provider";
import { loggableError } from "../../../src/infrastructure/telemetry/loggable-error";
import { WaitingReaders } from "../../../src/interfaces/http/endpoints/events/waiting-readers";
import { createHttpApp, type HttpAppParts } from "../../../src/interfaces/http/http-app";
import { createHttpServer } from "../../../src/interfaces/http/server/http-server";
import { Lifecycle } from "../../../src/interfaces/http/server/lifecycle";
import { undocumented } from "../documented-answers";
import { ListedKeys } from "../listed-keys";
import { PaymentsWorld } from "./payments-world";

export interface HttpWorldParts {
  readonly locks?: LockProvider;
  readonly payments?: PaymentRepository;
  readonly lockTimeouts?: LockTimeoutPolicy;
  readonly app?: Partial<HttpAppParts>;
  /** How often it is looked for answers that nobody reads. */
  readonly unreadMs?: number;
}

export interface HttpAnswer {
  readonly status: number;
  readonly headers: Headers;
  // What a server sent is not known before it was looked at.
  // eslint-disable-next-line @typescript-eslint/no-explicit-any
  readonly body: any;
}

/** A real server on a free port of this machine, in front of a real store and a gateway that can be watched. */
export class HttpWorld {
  readonly world: PaymentsWorld;
  readonly lifecycle = new Lifecycle();
  readonly keys = new ListedKeys();
  readonly logLines: string[] = [];
  /** Of the locks that this world made itself. */
  readonly lockEvents: string[] = [];
  /** Of the payments that this world made itself. */
  readonly auditTrail = new InMemoryAuditTrail();
  readonly server: Server;
  private sent = 0;

  constructor(parts: HttpWorldParts = {}) {
    const ownLocks = new MemoryLockProvider({
      observer: { notify: ({ type }) => this.lockEvents.push(type) },
    });
    this.world = new PaymentsWorld({
      locks: parts.locks ?? ownLocks,
      payments: parts.payments ?? new InMemoryPaymentRepository(undefined, this.auditTrail),
    });
    const { locks, context, simulated } = this.world;
    const logger = pino(
      { level: "trace", serializers: { err: loggableError } },
      { write: (line: string) => void this.logLines.push(line) },
    );
    const app = createHttpApp({
      ...paymentUseCases({
        locks,
        operations: context,
        authorizations: simulated,
        account: "shared",
        onError: (error) => this.world.errors.push(error),
      }),
      eventFeed: feedOf(context.payments),
      readers: new WaitingReaders(),
      authenticate: new AuthenticateCaller(this.keys),
      lockTimeouts: parts.lockTimeouts ?? builtInLockTimeouts,
      lockQueues: ownLocks,
      auditTrail: this.auditTrail,
      readiness: { store: () => context.payments.ping() },
      lifecycle: this.lifecycle,
      logger,
      version: "0.0.0",
      ownUrl: () => this.url,
      customerPages: simulated.customerPages,
      gatewayMoves: (paymentId) => simulated.moves(paymentId),
      ...parts.app,
    });
    this.server = createHttpServer(app, parts.unreadMs);
  }

  async open(): Promise<this> {
    await new Promise<void>((resolve) =>
      this.server.listen({ port: 0, host: "127.0.0.1", backlog: 2_000 }, resolve),
    );
    return this;
  }

  async close(): Promise<void> {
    const closed = new Promise((resolve) => this.server.close(resolve));
    this.server.closeAllConnections();
    await closed;
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  async call(
    method: string,
    path: string,
    {
      body,
      headers = {},
      signal,
    }: { body?: unknown; headers?: Record<string, string>; signal?: AbortSignal } = {},
  ): Promise<HttpAnswer> {
    const answer = await fetch(`${this.url}${path}`, {
      method,
      headers: { ...(body === undefined ? {} : { "content-type": "application/json" }), ...headers },
      ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
      ...(signal === undefined ? {} : { signal }),
    });
    const text = await answer.text();
    const isJson = answer.headers.get("content-type")?.includes("json") === true;
    const { status, headers: sent } = answer;
    const received = { status, headers: sent, body: isJson ? JSON.parse(text) : text };
    // Whatever a test is about: the published document has to be true.
    expect(undocumented(method, path, received) ?? []).toEqual([]);
    return received;
  }

  get(path: string, headers: Record<string, string> = {}): Promise<HttpAnswer> {
    return this.call("GET", path, { headers });
  }

  /** Resolves with the id of a payment that was authorized over HTTP. */
  async authorize(
    wanted: Record<string, unknown> = {},
    headers: Record<string, string> = {},
  ): Promise<string> {
    const { body } = await this.call("POST", "/payments", {
      headers: { "idempotency-key": `authorize-${(this.sent += 1)}`, ...headers },
      body: { amount: 1_000, currency: "EUR", paymentMethod: "tok_ok", ...wanted },
    });
    return body.payment.id as string;
  }

  capture(
    id: string,
    key: string,
    body: unknown = {},
    headers: Record<string, string> = {},
  ): Promise<HttpAnswer> {
    return this.call("POST", `/payments/${id}/capture`, {
      headers: { "idempotency-key": key, ...headers },
      body,
    });
  }

  /** Many captures in one request, each as `[payment, key, body]`. */
  captureMany(
    captures: readonly (readonly [id: string, key: string, body?: object])[],
    headers: Record<string, string> = {},
  ): Promise<HttpAnswer> {
    const items = captures.map(([paymentId, idempotencyKey, body]) => ({
      paymentId,
      idempotencyKey,
      ...body,
    }));
    return this.call("POST", "/captures", { headers, body: { captures: items } });
  }

  /** How often the gateway moved money by captures of this payment. */
  async timesCaptured(id: string): Promise<number> {
    return (await this.world.simulated.moves(id)).filter(({ kind }) => kind === "capture").length;
  }

  get log(): Record<string, unknown>[] {
    return this.logLines.map((line) => JSON.parse(line) as Record<string, unknown>);
  }

  /** The lines about finished requests. */
  get accessLog(): Record<string, unknown>[] {
    return this.log.filter(({ msg }) => msg === "answered");
  }
}

/** A test whose store is another one brings its feed itself. */
function feedOf(payments: PaymentRepository): EventFeed {
  return payments instanceof InMemoryPaymentRepository ? payments.feed : new InMemoryEventFeed();
}
