import { randomUUID } from "node:crypto";
import { isAnswerTo } from "./answer-shape";
import { checkName, checkOptions, refusedOption } from "./checked-call";
import { exchange, type ExchangeOptions, type Patience, type WireAnswer, type WireRequest } from "./exchange";
import { routes, type Operations } from "./generated/operations";
import type { KeyPlace } from "./key-place";

/** What goes with an operation: its path, query and body, as far as it has them. */
export type Input<Id extends keyof Operations> = Omit<Operations[Id], "answer">;

/** Makes requests of operations and sends them to one server. */
export class Wire {
  private readonly base: string;

  constructor(
    url: string,
    private readonly exchanging: ExchangeOptions,
    private readonly keys: KeyPlace,
    /** For how long a call is repeated, unless it says otherwise. */
    readonly withinMs: number,
  ) {
    const address = typeof url === "string" && URL.canParse(url) ? new URL(url) : null;
    if (address === null || !["http:", "https:"].includes(address.protocol))
      throw refusedOption("the server's address begins with http:// or https://");
    const { href, username, password, search, hash } = address;
    if (username !== "" || password !== "" || search !== "" || hash !== "")
      throw refusedOption(
        "the server's URL has no user, no password, no query and no fragment: the key is apiKey",
      );
    this.base = href.replace(/\/$/, "");
  }

  /** The key of that name: stored, before anything is sent with it. */
  async keyOf(name: string): Promise<string> {
    checkName(name);
    const key: unknown = await this.keys.keep(name, `hc-${randomUUID()}`);
    if (typeof key === "string" && key !== "") return key;
    throw new TypeError(`the place of keys gave no key for "${name}"`);
  }

  request<Id extends keyof Operations>(
    operation: Id,
    input: Input<Id>,
    idempotencyKey: string | null,
    isRepeatable?: boolean,
  ): WireRequest {
    const {
      path = {},
      query = {},
      body,
    } = input as {
      path?: Readonly<Record<string, string>>;
      query?: Readonly<Record<string, string | number | boolean | undefined>>;
      body?: unknown;
    };
    const [method, route] = routes[operation];
    const filled = route.replace(/\{(\w+)\}/g, (_, name: string) => partOf(path[name], name));
    const search = new URLSearchParams();
    for (const [name, value] of Object.entries(query))
      if (value !== undefined) search.set(name, String(value));
    return {
      method,
      url: `${this.base}${filled}${search.size === 0 ? "" : `?${search.toString()}`}`,
      body,
      idempotencyKey,
      isAnswer: (answer) => isAnswerTo(operation, path, body, answer),
      isRepeatable: isRepeatable ?? (idempotencyKey !== null || method === "GET"),
    };
  }

  send(request: WireRequest, { withinMs = this.withinMs, signal }: Partial<Patience>): Promise<WireAnswer> {
    return exchange(request, this.exchanging, { withinMs, signal });
  }

  async call<Id extends keyof Operations>(
    operation: Id,
    input: Input<Id>,
    patience: Partial<Patience> = {},
  ): Promise<Operations[Id]["answer"]> {
    checkOptions(patience);
    const { body } = await this.send(this.request(operation, input, null), patience);
    return body as Operations[Id]["answer"];
  }
}

/** Anything else would be another path. */
function partOf(value: string | undefined, name: string): string {
  if (typeof value === "string" && !["", ".", ".."].includes(value)) return encodeURIComponent(value);
  throw new TypeError(`${name} is missing or cannot be a part of a path`);
}
