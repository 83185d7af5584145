/** What can be wrong with a request before any use case sees it. */
export type RequestErrorCode =
  | "operator_key_required"
  | "form_of_another_site"
  | "idempotency_key_required"
  | "idempotency_key_reused"
  | "invalid_request"
  | "invalid_payment_id"
  | "invalid_event_cursor"
  | "invalid_event_type"
  | "invalid_limit"
  | "invalid_wait"
  | "too_many_readers"
  | "malformed_json"
  | "malformed_request"
  | "unsupported_media_type"
  | "body_too_large"
  | "headers_too_large"
  | "precondition_failed"
  | "request_timeout"
  | "capture_not_begun"
  | "route_not_found"
  | "method_not_allowed";

/** One thing that is wrong with a body (by JSON pointer) or with the query (by parameter). */
export interface InvalidPart {
  readonly pointer?: string;
  readonly parameter?: string;
  readonly detail: string;
}

/** A request that no use case should see. */
export class RequestError extends Error {
  override readonly name = "RequestError";

  constructor(
    readonly code: RequestErrorCode,
    message: string,
    readonly facts: { readonly errors?: readonly InvalidPart[]; readonly allow?: readonly string[] } = {},
  ) {
    super(message);
  }
}
