import type { Request, Response } from "express";
import type { VNode } from "preact";
import type { AuthenticatedCaller } from "../../../application/use-cases/authenticate-caller";
import type { MerchantId } from "../../../domain/identifiers";
import type { ConsoleParts } from "../console-parts";

/** The sections of the console, in the order of its menu. */
export type Section =
  "attention" | "payments" | "reviews" | "locks" | "webhooks" | "sandboxes" | "keys" | "audit" | "none";

/** One request of a browser, by somebody who may. */
export interface Visit {
  readonly request: Request;
  readonly response: Response;
  readonly caller: AuthenticatedCaller;
  /** Whose payments they may see: null for an operator, who may see all. */
  readonly whose: MerchantId | null;
  /** What every form of theirs has to carry. */
  readonly token: string;
  /** Of the path, decoded. */
  readonly ids: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, string>>;
  /** What was sent; empty where nothing was. */
  readonly form: Readonly<Record<string, string>>;
  readonly now: Date;
}

export interface Page {
  readonly title: string;
  readonly section: Section;
  readonly content: VNode;
  /** Default: 200. */
  readonly status?: number;
  /** Seconds after which the script may load it anew; left out for pages that stay as they are. */
  readonly refresh?: number;
}

/** A page, or where to go on. */
export type ConsoleReply = Page | { readonly to: string };

/** One page of the console, or one thing that can be done on it. */
export interface ConsoleRoute {
  readonly method: "get" | "post";
  readonly path: string;
  readonly access: "merchant" | "operator";
  /** It carries an idempotency key, which the store remembers: a form that was sent twice is told so by its outcome. */
  readonly isKeyed?: true;
  handle(visit: Visit, parts: ConsoleParts): Promise<ConsoleReply> | ConsoleReply;
}
