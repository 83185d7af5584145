import type { GatewayHint } from "./gateway-hint";

/**
 * Reads the events that the gateway sends by itself. An adapter MUST
 * - refuse whatever was not signed with one of its secrets, or not at about this time, with `GatewayEventError`;
 * - refuse without reading the body what its signature alone refuses, and without parsing it what its signature does not fit;
 * - take nothing out of an event but which authorization it is about.
 */
export interface SignedGatewayEvents {
  /**
   * Judges the signature by itself. What it resolves with judges the body, and reads it; null for an event that is of no
   * interest. `account`: whose own endpoint it came to, whose secrets alone it is compared with.
   */
  expect(
    signature: string | undefined,
    now: Date,
    account?: string,
  ): Promise<(body: Uint8Array) => GatewayHint | null>;
}

/** Lists the gateway's own events, for what was never sent or never arrived. Asking for them MUST change nothing. */
export interface GatewayEventList {
  /** How long the gateway keeps an event. */
  readonly keptForMs: number;
  /** The newest first. Rejects with `GatewayUnavailableError` if the gateway does not answer. */
  page(query: GatewayEventQuery): Promise<GatewayEventPage>;
}

export interface GatewayEventQuery {
  /** Left out: the common one. */
  readonly account?: string;
  /** Inclusive. */
  readonly since: Date;
  /** `next` of the page before. */
  readonly after: string | null;
  readonly timeoutMs: number;
}

export interface GatewayEventPage {
  readonly events: number;
  /** Of those that are of interest. */
  readonly hints: readonly GatewayHint[];
  /** By the gateway's clock; null for an empty page. */
  readonly newestAt: Date | null;
  /** Null on the last page. */
  readonly next: string | null;
}

export type GatewayEventErrorCode =
  | "gateway_signature_missing"
  | "gateway_signature_invalid"
  | "gateway_signature_expired"
  | "gateway_event_invalid"
  | "malformed_json";

/** Something that claims to be an event of the gateway is refused. Nothing of it is kept. */
export class GatewayEventError extends Error {
  override readonly name = "GatewayEventError";

  constructor(
    readonly code: GatewayEventErrorCode,
    message: string,
  ) {
    super(message);
  }
}

/** The gateway gave no answer that makes sense. */
export class GatewayUnavailableError extends Error {
  override readonly name = "GatewayUnavailableError";
  readonly code = "gateway_unavailable";
}
