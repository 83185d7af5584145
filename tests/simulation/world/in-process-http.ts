import type { Express } from "express";
import { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";

export interface WireRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
}

export interface WireAnswer {
  readonly status: number;
  readonly retryAfterMs: number;
  readonly text: string;
}

/** Express asks its connection for an address and for nothing else. */
const socket = { remoteAddress: "127.0.0.1", encrypted: false, destroyed: false } as unknown as Socket;

/** An answer that goes nowhere. Express gives it another prototype, so what is special about it is its own. */
function answerOf(request: IncomingMessage, onEnd: (answer: WireAnswer) => void): ServerResponse {
  const response = new ServerResponse(request);
  let text = "";
  const write = (chunk: unknown): boolean => {
    if (typeof chunk === "string" || chunk instanceof Uint8Array) text += String(chunk);
    return true;
  };
  const end = (chunk?: unknown): ServerResponse => {
    write(chunk);
    // So that `headersSent` says so.
    Object.assign(response, { _header: "sent", finished: true });
    const retryAfterMs = Number(response.getHeader("retry-after") ?? 0) * 1_000;
    onEnd({ status: response.statusCode, retryAfterMs, text });
    response.emit("close");
    return response;
  };
  return Object.assign(response, { write, end });
}

/** The app as a server calls it, without a connection. Returns how the caller hangs up. */
export function call(
  app: Express,
  { method, url, headers, body }: WireRequest,
  onAnswer: (answer: WireAnswer) => void,
): () => void {
  const request = new IncomingMessage(socket);
  request.method = method;
  request.url = url;
  request.httpVersion = "1.1";
  const content = body === null ? null : Buffer.from(body);
  request.headers = {
    host: "holdfast.test",
    ...headers,
    ...(content !== null && {
      "content-type": "application/json",
      "content-length": String(content.length),
    }),
  };
  if (content !== null) request.push(content);
  request.push(null);
  request.complete = true;
  let isOver = false;
  const response = answerOf(request, (answer) => {
    if (!isOver) onAnswer(answer);
    isOver = true;
  });
  app(request, response);
  return () => {
    if (isOver) return;
    isOver = true;
    Object.assign(response, { destroyed: true });
    response.emit("close");
  };
}
