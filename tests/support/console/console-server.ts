import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startedProgram } from "../program/built-program";
import { HoldfastProcess } from "../program/holdfast-process";
import { WebhookReceiver } from "../receivers/webhook-receiver";
import { ConsoleBrowser } from "./console-world";

/** Somebody with a key, and a session of the console that it was exchanged for. */
export interface SignedIn {
  readonly secret: string;
  readonly browser: ConsoleBrowser;
}

/** What a merchant has, one of each kind, ready to be acted upon. */
export interface Belongings {
  readonly toCapture: string;
  readonly toVoid: string;
  readonly toRefund: string;
  readonly inReview: string;
  readonly endpoint: string;
  readonly delivery: string;
  readonly sandbox: string;
  readonly snapshot: string;
}

/** The program with its console, an operator and two merchants. Its keys are made on the console itself. */
export class ConsoleServer {
  private sent = 0;

  private constructor(
    readonly url: string,
    readonly receiver: WebhookReceiver,
    readonly operator: SignedIn,
    readonly acme: SignedIn,
    readonly other: SignedIn,
    readonly close: () => Promise<void>,
  ) {}

  static async open(more: readonly string[] = []): Promise<ConsoleServer> {
    const cwd = mkdtempSync(join(tmpdir(), "holdfast-console-"));
    const settings = ["--store", "memory:", "--port", "0", "--shutdown-delay", "0", "--pass-interval", "0"];
    const allowed = ["--webhooks-allow", "http,private", "--log-level", "error"];
    const program = new HoldfastProcess([await startedProgram(), "serve", ...settings, ...allowed, ...more], {
      cwd,
    });
    const receiver = await WebhookReceiver.open();
    const close = async () => {
      await program.end("SIGTERM");
      await receiver.close();
      rmSync(cwd, { recursive: true });
    };
    try {
      const url = await program.url();
      const first = new ConsoleBrowser(url);
      const operator = await signedIn(url, await madeKey(first, "root", { operator: "on" }));
      const acme = await signedIn(url, await madeKey(operator.browser, "acme"));
      const other = await signedIn(url, await madeKey(operator.browser, "other"));
      return new ConsoleServer(url, receiver, operator, acme, other, close);
    } catch (error) {
      await close();
      throw error;
    }
  }

  // What a server sent is not known before it was looked at.
  async call(
    { secret }: SignedIn,
    method: string,
    path: string,
    body?: object,
    key = `test-${(this.sent += 1)}`,
    // eslint-disable-next-line @typescript-eslint/no-explicit-any
  ): Promise<any> {
    const answer = await fetch(`${this.url}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${secret}`,
        "idempotency-key": key,
        "content-type": "application/json",
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`);
    return JSON.parse(text);
  }

  async authorized(who: SignedIn, wanted: object = {}): Promise<string> {
    const body = { amount: 2_500, currency: "EUR", paymentMethod: "tok_ok", reference: "order-1042" };
    return (await this.call(who, "POST", "/payments", { ...body, ...wanted })).payment.id as string;
  }

  async captured(who: SignedIn): Promise<string> {
    const id = await this.authorized(who);
    await this.call(who, "POST", `/payments/${id}/capture`, {});
    return id;
  }

  /** A void that met a capture made elsewhere: nobody but a person can decide. */
  async operationInReview(who: SignedIn): Promise<string> {
    const id = await this.authorized(who, { paymentMethod: "tok_void_captured_elsewhere" });
    return (await this.call(who, "POST", `/payments/${id}/void`, {})).void.id as string;
  }

  /** One that listens for nothing but tests, with a delivery that has arrived. */
  async endpoint(who: SignedIn, wanted: object = {}): Promise<{ endpoint: string; delivery: string }> {
    const body = { url: this.receiver.url, types: ["payment.expired"], ...wanted };
    const { endpoint } = await this.call(who, "POST", "/webhook-endpoints", body);
    const at = `/webhook-endpoints/${endpoint.id as string}`;
    await this.call(who, "POST", `${at}/test`, {});
    for (let tries = 0; tries < 600; tries += 1) {
      const { data } = await this.call(who, "GET", `${at}/deliveries`);
      const [delivery] = data as { id: string; status: string }[];
      if (delivery !== undefined && delivery.status !== "pending")
        return { endpoint: endpoint.id as string, delivery: delivery.id };
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    throw new Error("the test event was not delivered");
  }

  async sandbox(who: SignedIn): Promise<{ sandbox: string; snapshot: string }> {
    const { sandbox } = await this.call(who, "POST", "/sandboxes", {});
    const id = sandbox.id as string;
    await this.call(who, "POST", `/sandboxes/${id}/checkpoint`, {});
    const shown = await this.call(who, "GET", `/sandboxes/${id}`);
    return { sandbox: id, snapshot: shown.sandbox.snapshots[0].id as string };
  }

  async belongings(who: SignedIn): Promise<Belongings> {
    return {
      toCapture: await this.authorized(who),
      toVoid: await this.authorized(who),
      toRefund: await this.captured(who),
      inReview: await this.operationInReview(who),
      ...(await this.endpoint(who)),
      ...(await this.sandbox(who)),
    };
  }
}

export async function madeKey(
  by: ConsoleBrowser,
  merchant: string,
  fields: Record<string, string> = {},
): Promise<string> {
  const { text } = await by.submit("/console/keys", "/console/keys", { merchant, ...fields });
  const secret = /<code class="secret">([^<]+)</.exec(text)?.[1];
  if (secret === undefined) throw new Error(`no key was made: ${text}`);
  return secret;
}

async function signedIn(url: string, secret: string): Promise<SignedIn> {
  const browser = new ConsoleBrowser(url);
  await browser.submit("/console/sign-in", "/console/sign-in", { key: secret });
  return { secret, browser };
}
