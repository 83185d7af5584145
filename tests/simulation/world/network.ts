import type { HttpCall } from "../../support/linearizability/history/http-call";
import type { SeededRandom } from "../lease/seeded-random";
import type { WireAnswer } from "./in-process-http";
import type { ServerProcess } from "./server-process";
import { START_MS, type Owner, type VirtualTime } from "./time/virtual-time";

export interface Asked {
  readonly method: "GET" | "POST";
  readonly path: string;
  readonly key: string | null;
  readonly body: object | null;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface Heard {
  readonly status: number;
  readonly retryAfterMs: number;
  readonly text: string;
  // What a server sent is not known before it was looked at.
  // eslint-disable-next-line @typescript-eslint/no-explicit-any
  readonly body: any;
}

export interface NetworkParts {
  readonly time: VirtualTime;
  readonly random: SeededRandom;
  readonly apiKey: string;
  /** What is listening; undefined: nothing does at the moment. */
  readonly servers: () => readonly (ServerProcess | undefined)[];
  /** A planted mistake: what a caller hears instead. */
  readonly distort?: (text: string) => string;
  /** Called with each answer, in the order in which they are heard. */
  readonly onHeard: (asked: Asked, answer: WireAnswer) => void;
}

const PATIENCE_MS = 45_000;
const LONGEST_WAY_MS = 4;
const REFUSED_MS = 20;

/** Between callers and servers: connections that are refused, that break when a server dies, and callers who hang up. */
export class Network {
  /** What callers saw of payments. */
  readonly history: HttpCall[] = [];
  private readonly open = new Map<ServerProcess, Set<() => void>>();
  private sent = 0;

  constructor(private readonly parts: NetworkParts) {}

  /** Null: nobody knows what became of it. */
  ask(caller: Owner, asked: Asked, patienceMs = PATIENCE_MS): Promise<Heard | null> {
    const { time, random, servers } = this.parts;
    const { method, path, key, body } = asked;
    const all = servers();
    const server = all[Math.floor(random.next() * all.length)];
    const begin = time.nowMs;
    const entry = {
      client: caller.name,
      begin,
      end: null,
      beginWallMs: START_MS + begin,
      request: { method, path, key, body },
      answer: null,
    };
    const at = this.history.push(entry) - 1;
    if (server === undefined || !server.isAlive) return time.sleep(REFUSED_MS, caller).then(() => null);
    return new Promise((resolve) => {
      let isOver = false;
      let hangUp = (): void => {};
      const breaks = this.open.get(server) ?? new Set();
      this.open.set(server, breaks);
      const end = (heard: Heard | null): void => {
        if (isOver) return;
        isOver = true;
        breaks.delete(broken);
        patience.cancelled = true;
        if (heard !== null)
          this.history[at] = {
            ...entry,
            end: time.nowMs,
            answer: { status: heard.status, body: heard.body },
          };
        else time.after(1, () => hangUp(), server.owner);
        resolve(heard);
      };
      const broken = (): void => void time.after(1, () => end(null), caller);
      breaks.add(broken);
      const patience = time.after(patienceMs, () => end(null), caller);
      const arrive = (answer: WireAnswer): void => {
        if (isOver) return;
        const { status, retryAfterMs } = answer;
        const text = this.parts.distort?.(answer.text) ?? answer.text;
        this.parts.onHeard(asked, answer);
        end({ status, retryAfterMs, text, body: parsed(text) });
      };
      time.after(
        random.next() * LONGEST_WAY_MS,
        () => {
          if (isOver) return;
          hangUp = server.request(this.wire(asked), (answer) => {
            time.after(random.next() * LONGEST_WAY_MS, () => arrive(answer), caller);
          });
        },
        server.owner,
      );
    });
  }

  /** Its connections break. */
  died(server: ServerProcess): void {
    for (const broken of this.open.get(server) ?? []) broken();
    this.open.delete(server);
  }

  private wire({ method, path, key, body, headers }: Asked) {
    this.sent += 1;
    return {
      method,
      url: path,
      headers: {
        authorization: `Bearer ${this.parts.apiKey}`,
        "x-request-id": `r${this.sent}`,
        ...(key === null ? {} : { "idempotency-key": key }),
        ...headers,
      },
      body: body === null ? null : JSON.stringify(body),
    };
  }
}

/** What the gateway takes its time for is to callers an outcome that is open. */
function parsed(text: string): unknown {
  if (text === "") return {};
  return JSON.parse(
    text.includes('"pending"') ? text.replaceAll('"status":"pending"', '"status":"unknown"') : text,
  );
}
