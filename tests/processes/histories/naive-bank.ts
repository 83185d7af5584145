import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";

interface Order {
  readonly does: "move" | "find";
  readonly kind: string;
  readonly key: string;
  readonly payment: string;
  readonly amount: number;
}

interface Move {
  readonly payment: string;
  readonly kind: string;
  readonly gatewayKey: string;
  readonly amount: number;
}

/** Carries each key out once, and everything that has a new key: a mistake of its callers is money that moved twice. */
export class NaiveBank {
  private readonly answers = new Map<string, object>();
  private readonly moved: Move[] = [];
  private readonly server: Server = createServer((request, response) => {
    void text(request).then((content) => {
      response.end(JSON.stringify(this.answer(JSON.parse(content) as Order)));
    });
  });

  async listen(): Promise<string> {
    this.server.listen(0, "127.0.0.1");
    await once(this.server, "listening");
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  /** Its books, whatever anybody was told. */
  moves(payment: string): readonly Omit<Move, "payment">[] {
    return this.moved
      .filter((move) => move.payment === payment)
      .map(({ kind, gatewayKey, amount }) => ({ kind, gatewayKey, amount }));
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    this.server.close();
    await once(this.server, "close");
  }

  private answer({ does, kind, key, payment, amount }: Order): object {
    const known = this.answers.get(key);
    if (known !== undefined) return known;
    if (does === "find") return { outcome: "absent" };
    const answer = { outcome: "succeeded", reference: `${kind}-${randomUUID()}` };
    this.answers.set(key, answer);
    this.moved.push({ payment, kind, gatewayKey: key, amount });
    return answer;
  }
}
