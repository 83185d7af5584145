import { request as overHttp, type Agent } from "node:http";
import { request as overHttps } from "node:https";
import type { GcsAnswer } from "./gcs-requests";

/** One request on one socket of `agent`, until the last byte of its answer. `signal` destroys the socket. */
export function exchange(
  url: string,
  { method, headers, body }: { method: string; headers: Readonly<Record<string, string>>; body?: Uint8Array },
  { agent, signal }: { agent: Agent; signal: AbortSignal },
): Promise<GcsAnswer> {
  return new Promise((resolve, reject) => {
    const send = url.startsWith("http://") ? overHttp : overHttps;
    const length = body === undefined ? {} : { "Content-Length": body.byteLength };
    const sent = send(url, { method, headers: { ...headers, ...length }, agent }, (answer) => {
      const chunks: Buffer[] = [];
      answer.on("data", (chunk: Buffer) => chunks.push(chunk));
      answer.on("error", reject);
      answer.on("end", () =>
        resolve({
          status: answer.statusCode ?? 0,
          // Only cookies come as lists, and nobody asks for them.
          headers: answer.headers as Readonly<Record<string, string>>,
          bytes: Buffer.concat(chunks),
        }),
      );
    });
    sent.on("error", reject);
    signal.addEventListener("abort", () => sent.destroy(), { once: true });
    sent.end(body);
  });
}
