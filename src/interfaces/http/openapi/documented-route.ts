import type { z } from "zod";
import type { ProblemCode } from "../problems/problem-table";
import type { SchemaName } from "./component-schemas";

export type HeaderName = "Location" | "Retry-After" | "Idempotency-Replayed" | "WWW-Authenticate" | "Allow";

/** One way in which a route answers when nothing is wrong. */
export interface DocumentedAnswer {
  readonly status: number;
  readonly description: string;
  readonly schema?: SchemaName;
  /** For what is not JSON. */
  readonly contentType?: string;
  readonly headers?: readonly HeaderName[];
}

/** What the document tells of one route. Problems that any route can answer with are added by the assembler. */
export interface DocumentedRoute {
  readonly method: "get" | "post" | "delete";
  /** With `{parameters}`. */
  readonly path: string;
  readonly operationId: string;
  readonly tag: "Payments" | "Reviews" | "Sandboxes" | "Simulated gateway" | "Service";
  readonly summary: string;
  readonly description?: string;
  /** `operator`: a key that may look across merchants. */
  readonly access: "open" | "merchant" | "operator";
  readonly query?: z.ZodObject;
  /** Takes an `Idempotency-Key`, and waits for a lock (`Prefer: wait`). */
  readonly movesMoney?: boolean;
  readonly body?: SchemaName;
  readonly answers: readonly DocumentedAnswer[];
  readonly problems: readonly ProblemCode[];
}

/** An exchange that the document shows. A test sends each of them, and gets the answer that is written here. */
export interface DocumentedExample {
  readonly name: string;
  readonly operationId: string;
  readonly summary: string;
  readonly body?: object;
  readonly status: number;
  readonly answer: object;
}
