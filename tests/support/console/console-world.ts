import { anAct } from "../an-act";
import { randomBytes } from "node:crypto";
import { AuthenticateCaller } from "../../../src/application/use-cases/authenticate-caller";
import { ConsoleSessions } from "../../../src/application/use-cases/console-sessions";
import { ManageApiKeys } from "../../../src/application/use-cases/manage-api-keys";
import { parseMerchantId } from "../../../src/domain/identifiers";
import { InMemoryApiKeyStore } from "../../../src/infrastructure/persistence/memory/in-memory-api-key-store";
import { InMemoryConsoleSessionStore } from "../../../src/infrastructure/persistence/memory/in-memory-console-session-store";
import { UuidV7Generator } from "../../../src/infrastructure/identity/uuid-v7-generator";
import { RecentHour } from "../../../src/interfaces/console/attention/recent-hour";
import { HttpWorld } from "../worlds/http-world";

export interface ConsoleAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

/** The HTTP world with the console on it, and keys of its own. */
export class ConsoleWorld {
  readonly http: HttpWorld;
  readonly keys: ManageApiKeys;
  nowMs = Date.now();

  constructor() {
    const clock = { now: () => new Date(this.nowMs) };
    const store = new InMemoryApiKeyStore();
    const authenticate = new AuthenticateCaller(store);
    const newId = () => randomBytes(32).toString("base64url");
    this.keys = new ManageApiKeys(store, clock, new UuidV7Generator(clock), newId);
    const sessions = new ConsoleSessions(authenticate, new InMemoryConsoleSessionStore(store), clock, newId);
    const settings = [{ name: "store", value: "memory:", source: "default" }];
    const recent = new RecentHour();
    this.http = new HttpWorld({
      app: { authenticate, console: { sessions, apiKeys: this.keys, settings, recent, clock, newId } },
    });
  }

  /** The secret of a new key. */
  async key(merchant: string, operator = false): Promise<string> {
    const wanted = { merchant: parseMerchantId(merchant), operator, name: null };
    return (await this.keys.create(wanted, anAct)).secret;
  }

  browser(): ConsoleBrowser {
    return new ConsoleBrowser(this.http.url);
  }

  async signedIn(secret: string): Promise<ConsoleBrowser> {
    const browser = this.browser();
    await browser.submit("/console/sign-in", "/console/sign-in", { key: secret });
    return browser;
  }
}

/** As much of a browser as forms and cookies need. */
export class ConsoleBrowser {
  readonly cookies = new Map<string, string>();

  constructor(private readonly url: string) {}

  async get(path: string, headers: Record<string, string> = {}): Promise<ConsoleAnswer> {
    return this.send("GET", path, undefined, headers);
  }

  /** What a form of that page to that action would send, with these fields in it. */
  async submit(page: string, action: string, fields: Record<string, string> = {}): Promise<ConsoleAnswer> {
    return this.post(action, { ...(await this.form(page, action)), ...fields });
  }

  /** The hidden fields of a form. */
  async form(page: string, action: string): Promise<Record<string, string>> {
    const { text } = await this.follow(page);
    const form = [...text.matchAll(/<form [^>]*method="post".*?<\/form>/gs)].find(([one]) =>
      one.includes(`action="${action}"`),
    )?.[0];
    if (form === undefined) throw new Error(`${page} has no form to ${action}: ${text}`);
    const hidden = [...form.matchAll(/<input type="hidden" name="(\w+)" value="([^"]*)"/g)];
    return Object.fromEntries(hidden.map(([, name, value]) => [name!, value!]));
  }

  async post(
    path: string,
    fields: Record<string, string>,
    headers: Record<string, string> = {},
  ): Promise<ConsoleAnswer> {
    return this.send("POST", path, new URLSearchParams(fields).toString(), {
      "content-type": "application/x-www-form-urlencoded",
      "sec-fetch-site": "same-origin",
      ...headers,
    });
  }

  /** Where it leads in the end. */
  async follow(path: string): Promise<ConsoleAnswer & { readonly path: string }> {
    let at = path;
    for (let hops = 0; hops < 4; hops += 1) {
      const answer = await this.get(at);
      if (answer.status !== 303) return { ...answer, path: at };
      at = answer.headers.get("location")!;
    }
    throw new Error(`${path} leads nowhere`);
  }

  private async send(
    method: string,
    path: string,
    body: string | undefined,
    headers: Record<string, string>,
  ): Promise<ConsoleAnswer> {
    const cookie = [...this.cookies].map(([name, value]) => `${name}=${value}`).join("; ");
    const answer = await fetch(`${this.url}${path}`, {
      method,
      redirect: "manual",
      headers: { accept: "text/html,*/*;q=0.8", ...(cookie === "" ? {} : { cookie }), ...headers },
      ...(body === undefined ? {} : { body }),
    });
    for (const set of answer.headers.getSetCookie()) {
      const [, name, value] = /^(\w+)=([^;]*)/.exec(set)!;
      if (value === "") this.cookies.delete(name!);
      else this.cookies.set(name!, value!);
    }
    return { status: answer.status, headers: answer.headers, text: await answer.text() };
  }
}
