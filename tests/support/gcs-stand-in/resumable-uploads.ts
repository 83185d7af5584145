import { GoogleError, invalid } from "./google-error";
import type { Preconditions } from "./preconditions";

interface Session {
  readonly bucket: string;
  readonly name: string;
  readonly facts: { readonly contentType?: string; readonly metadata?: Record<string, string> };
  /** Kept from the start, compared when the last byte has come. */
  readonly conditions: Preconditions;
  received: Buffer;
}

/** Upload sessions: begun by one request, fed by others, an object only when complete. */
export class ResumableUploads {
  private readonly sessions = new Map<string, Session>();
  private started = 0;

  start(session: Omit<Session, "received">): string {
    this.started += 1;
    const id = `upload-${this.started}`;
    this.sessions.set(id, { ...session, received: Buffer.alloc(0) });
    return id;
  }

  cancel(id: string): void {
    this.find(id);
    this.sessions.delete(id);
  }

  /** Takes what came; gives the finished session, or how many bytes there are so far. */
  feed(id: string, range: string | undefined, body: Buffer): { finished: Session } | { received: number } {
    const session = this.find(id);
    const { from, total } = parseRange(range, body.length);
    if (from > session.received.length) throw new GoogleError(503, "backendError", "Bytes are missing.");
    // A retried chunk begins before what has been received already.
    session.received = Buffer.concat([session.received, body.subarray(session.received.length - from)]);
    if (total === undefined || session.received.length < total) return { received: session.received.length };
    this.sessions.delete(id);
    return { finished: session };
  }

  private find(id: string): Session {
    const session = this.sessions.get(id);
    if (session === undefined) throw new GoogleError(404, "notFound", "Not Found");
    return session;
  }
}

function parseRange(range: string | undefined, length: number): { from: number; total: number | undefined } {
  if (range === undefined) return { from: 0, total: length };
  const found = /^bytes (?:(\d+)-(\d+|\*)|\*)\/(\d+|\*)$/.exec(range);
  if (found === null) throw invalid(`Failed to parse Content-Range header: ${range}`);
  const from = Number(found[1] ?? 0);
  if (found[3] !== "*") return { from, total: Number(found[3]) };
  // An open end and an unknown total: the body is everything.
  return { from, total: found[2] === "*" ? from + length : undefined };
}
