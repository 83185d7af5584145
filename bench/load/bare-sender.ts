// The least that delivers webhooks: posts a body with a signature, over connections that stay open, and keeps nothing of it.
// Told what to send, it answers with the CPU time that this took, in microseconds.
import { createHmac, randomUUID } from "node:crypto";
import { Agent, request } from "undici";

export interface Sending {
  readonly url: string;
  readonly body: string;
  readonly count: number;
  readonly atOnce: number;
}

const key = Buffer.alloc(32, "k");
const dispatcher = new Agent();

async function post(url: string, body: string): Promise<void> {
  const [id, timestamp] = [randomUUID(), String(Math.floor(Date.now() / 1_000))];
  const signature = createHmac("sha256", key).update(`${id}.${timestamp}.${body}`).digest("base64");
  const answer = await request(url, {
    dispatcher,
    method: "POST",
    headers: {
      "content-type": "application/json",
      "webhook-id": id,
      "webhook-timestamp": timestamp,
      "webhook-signature": `v1,${signature}`,
    },
    body,
  });
  if (answer.statusCode !== 204) throw new Error(`unexpected answer: ${answer.statusCode}`);
  await answer.body.dump();
}

async function send({ url, body, count, atOnce }: Sending): Promise<void> {
  let left = count;
  const line = async (): Promise<void> => {
    while (left > 0) {
      left -= 1;
      await post(url, body);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, line));
}

process.on("message", (sending: Sending) => {
  const before = process.cpuUsage();
  void send(sending).then(() => {
    const { user, system } = process.cpuUsage(before);
    process.send?.(user + system);
  });
});
process.on("disconnect", () => process.exit());
