import { Agent, request } from "node:http";
import { text } from "node:stream/consumers";

interface QuickAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
}

const agent = new Agent({ keepAlive: true });

/** As `fetch`, for hundreds of requests: that one takes several times as long for each. Rejects if the connection breaks. */
export function quickRequest(
  url: string,
  asked: { readonly headers?: Readonly<Record<string, string>>; readonly body?: string } = {},
): Promise<QuickAnswer> {
  const { body } = asked;
  const length = body === undefined ? {} : { "content-length": String(Buffer.byteLength(body)) };
  const headers = { ...asked.headers, ...length };
  const method = body === undefined ? "GET" : "POST";
  return new Promise((resolve, reject) => {
    const sent = request(url, { method, headers, agent }, (response) => {
      const { statusCode = 0, headers: told } = response;
      text(response).then((read) => resolve({ status: statusCode, headers: told, text: read }), reject);
    });
    sent.on("error", reject);
    sent.end(body);
  });
}
