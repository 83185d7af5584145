/** One request as its client saw it. Times in milliseconds of the machine's monotonic clock, which all processes share. */
export interface HttpCall {
  readonly client: string;
  readonly begin: number;
  /** Null: the client never got an answer, and does not know what became of the request. */
  readonly end: number | null;
  /** What the wall clock showed at the begin, for times that an answer names. */
  readonly beginWallMs: number;
  readonly request: HttpRequest;
  readonly answer: HttpAnswer | null;
}

export interface HttpRequest {
  readonly method: string;
  readonly path: string;
  readonly key: string | null;
  readonly body: unknown;
}

export interface HttpAnswer {
  readonly status: number;
  // What a server sent is not known before it was looked at.
  // eslint-disable-next-line @typescript-eslint/no-explicit-any
  readonly body: any;
}
