import type { Request, Response } from "express";
import type { z } from "zod";
import type { SandboxId } from "../../../application/sandboxes/sandbox-ids";
import type { IdempotencyKey, OperationId, PaymentId } from "../../../domain/identifiers";
import type { ToldError } from "../problems/problem-details";
import type { ProblemPage } from "../requests/problem-page";
import type { WebhookDeliveryId, WebhookEndpointId } from "../../../domain/webhooks/webhook-endpoint";
import type { RequestErrorCode } from "../problems/request-error";
import type { ProblemCode } from "../problems/problem-table";
import type { Given } from "../requests/without-undefined";

export type HeaderName = "Location" | "Retry-After" | "Idempotency-Replayed" | "WWW-Authenticate" | "Allow";

/** The parameters that a path may have, as they are once they have been parsed. */
export interface PathIds {
  readonly paymentId: PaymentId;
  readonly operationId: OperationId;
  readonly sandboxId: SandboxId;
  readonly webhookEndpointId: WebhookEndpointId;
  readonly webhookDeliveryId: WebhookDeliveryId;
  readonly gatewayAccount: string;
}

type IdsIn<Path extends string> = Path extends `${string}:${infer Name}/${infer Rest}`
  ? Name | IdsIn<Rest>
  : Path extends `${string}:${infer Name}`
    ? Name
    : never;

/** One way in which an endpoint answers when nothing is wrong. */
export interface Answer<Body extends z.ZodType = z.ZodType> {
  readonly description: string;
  /** Named by `answerSchema`. Left out for what is not JSON. */
  readonly schema?: Body;
  /** For what is not JSON. */
  readonly contentType?: string;
  /** Other content types that a caller can ask for by `Accept`. */
  readonly alsoAs?: readonly string[];
  readonly headers?: readonly HeaderName[];
}

type Answers = Readonly<Record<number, Answer>>;

/** A request that is known to be well formed. */
export interface Asked<Ids = Partial<PathIds>, Body = unknown, Query = unknown, Key = IdempotencyKey | null> {
  readonly request: Request;
  readonly response: Response;
  readonly ids: Ids;
  readonly body: Body;
  readonly query: Query;
  readonly key: Key;
}

interface JsonReply<Status, Body> {
  readonly status: Status;
  readonly body: Body;
  readonly headers?: Partial<Record<HeaderName, string | number>>;
}

/** `problem`: for an endpoint whose report is a problem though nothing failed. */
export type Reply<Status = number, Body = object> =
  | JsonReply<Status, Body>
  | { readonly status: Status; readonly text: string; readonly contentType: string }
  | ChunksReply<Status>
  | { readonly problem: ToldError };

/** Sent as they come. `end` is called when nothing more is sent, for whatever reason. */
interface ChunksReply<Status> {
  readonly status: Status;
  readonly contentType: string;
  readonly chunks: AsyncIterable<string>;
  readonly end: () => void;
}

type ReplyTo<All extends Answers> = {
  [Status in keyof All]: Reply<Status, All[Status] extends Answer<infer Body> ? z.output<Body> : never>;
}[keyof All];

/** By parameter. */
export type QueryCodes = Readonly<Record<string, RequestErrorCode>>;

/** All that the published document tells of an endpoint. Problems that any of them can answer with are added there. */
export interface DocumentedEndpoint {
  readonly method: "get" | "post" | "patch" | "delete";
  /** With `:parameters`. */
  readonly path: string;
  readonly operationId: string;
  readonly tag:
    | "Payments"
    | "Events"
    | "Webhooks"
    | "Reviews"
    | "Audit"
    | "Sandboxes"
    | "Gateway events"
    | "Simulated gateway"
    | "Service";
  readonly summary: string;
  readonly description?: string;
  /** `operator`: a key that may look across merchants. All endpoints below one first segment have the same access. */
  readonly access: "open" | "merchant" | "operator";
  readonly query?: z.ZodObject;
  /** Parameters that are refused by a code of their own. */
  readonly queryCodes?: QueryCodes;
  /** Takes an `Idempotency-Key`, and waits for a lock (`Prefer: wait`). */
  readonly movesMoney?: boolean;
  /** Waits for locks (`Prefer: wait`), though its keys are in the body. */
  readonly waitsForLocks?: boolean;
  /** What a person decides or changes by hand: takes a `Holdfast-Reason`, and leaves an entry in the audit. */
  readonly audited?: boolean;
  /** Named by `requestSchema`. */
  readonly body?: z.ZodType;
  /** Where that is more than the usual 64 KiB. */
  readonly bodyLimitBytes?: number;
  /**
   * A body that the handler reads itself, because something else decides whether it is worth reading; documented only.
   * Named by `requestSchema`.
   */
  readonly unreadBody?: z.ZodType;
  /** Default: JSON. */
  readonly unreadBodyType?: string;
  /** That a request has to have, by name. */
  readonly requiredHeaders?: Readonly<Record<string, string>>;
  readonly answers: Answers;
  readonly problems: readonly ProblemCode[];
  /** Where people come by a browser: its problems as HTML, for those who would rather have that. */
  readonly problemPage?: ProblemPage;
}

/** One endpoint, whole: what is published, what is checked, and what answers. `Parts`: what it works with. */
export interface Endpoint<Parts> extends DocumentedEndpoint {
  /** By which schema a body is checked, where `body` is one of several and the errors should be those of the right one. */
  readonly bodyFor?: (sent: unknown) => z.ZodType;
  handle(asked: Asked, parts: Parts): Promise<Reply> | Reply;
}

/** What `endpoint` takes: an `Endpoint` whose handler is typed by its own path, schemas and answers. */
interface TypedEndpoint<
  Path extends string,
  Body extends z.ZodType,
  Query extends z.ZodObject,
  Moves extends boolean,
  All extends Answers,
  Parts,
> extends Omit<Endpoint<Parts>, "handle"> {
  /** A parameter that has no parser does not compile. */
  readonly path: Path & (IdsIn<Path> extends keyof PathIds ? unknown : never);
  readonly body?: Body;
  readonly query?: Query;
  readonly movesMoney?: Moves;
  readonly answers: All;
  handle(
    asked: Asked<
      Pick<PathIds, IdsIn<Path> & keyof PathIds>,
      Given<z.output<Body>>,
      Given<z.output<Query>>,
      Moves extends true ? IdempotencyKey : null
    >,
    parts: Parts,
  ): Promise<ReplyTo<All>> | ReplyTo<All>;
}

/** Types a handler by what the endpoint says of itself; from then on only the router knows what it was asked with. */
export function endpoint<Parts>() {
  return <
    Path extends string,
    const All extends Answers,
    Body extends z.ZodType = z.ZodUndefined,
    Query extends z.ZodObject = z.ZodObject,
    Moves extends boolean = false,
  >(
    typed: TypedEndpoint<Path, Body, Query, Moves, All, Parts>,
  ): Endpoint<Parts> => typed as unknown as Endpoint<Parts>;
}
