import { randomUUID } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import { HistoryRecorder } from "../../support/linearizability/history/history-recorder";
import type { HttpCall } from "../../support/linearizability/history/http-call";
import { HoldfastProcess } from "../../support/program/holdfast-process";
import { StormEndpoints, TO_THIS_HOST, type DeliveredEvent } from "../../support/receivers/storm-endpoints";

export interface WebhookStormOptions {
  /** Of the built program. */
  readonly main: string;
  readonly folder: string;
  readonly flags: readonly string[];
  readonly env?: NodeJS.ProcessEnv;
  readonly instances: number;
  readonly kills: number;
}

export interface WebhookStormOutcome {
  /** What the store has told, in the end. */
  readonly told: readonly DeliveredEvent[];
  readonly endpoints: StormEndpoints;
  /** Everything that the callers saw, for the judge. */
  readonly history: readonly HttpCall[];
}

const CALLERS = 4;
const SLOW_MS = 50;
/** Between two payments of a caller, each of which has three events. */
const BETWEEN_PAYMENTS_MS = 250;
const ANSWER_WITHIN_MS = 10_000;
const BETWEEN_KILLS_MS = { least: 100, spread: 500 };

/**
 * Payments are made, captured and refunded all the time, while instances are killed and started again, and endpoints are
 * fast, slow, dead and lying.
 */
export async function webhookStorm(options: WebhookStormOptions): Promise<WebhookStormOutcome> {
  const { main, folder, flags, env = {}, instances: count, kills } = options;
  const args = [main, "serve", "--port", "0", "--log-level", "fatal", "--shutdown-delay", "0"];
  const start = (at: number) =>
    new HoldfastProcess(
      [...args, ...flags, ...TO_THIS_HOST, "--snapshots", `file:${folder}/snapshots-${at}`],
      {
        cwd: folder,
        env,
      },
    );
  const endpoints = await StormEndpoints.open(SLOW_MS);
  const instances = Array.from({ length: count }, (_, at) => start(at));
  const recorder = new HistoryRecorder("callers", `${folder}/history.jsonl`);
  const over = new AbortController();
  try {
    /** Undefined while it is down: its port may be somebody else's by then. */
    const urls: (string | undefined)[] = await Promise.all(instances.map((one) => one.url()));
    await endpoints.attachTo(urls[0]!);
    let answers = 0;
    const callers = Array.from({ length: CALLERS }, (_, at) =>
      live(
        () => urls[at % urls.length],
        () => (answers += 1),
        recorder,
        over.signal,
      ),
    );
    // On a busy machine, kills alone would leave nobody the time for a payment.
    const untilAnswered = async (): Promise<void> => {
      const before = answers;
      for (let waitedMs = 0; answers === before && waitedMs < ANSWER_WITHIN_MS; waitedMs += 20)
        await pause(20);
    };
    for (let kill = 0; kill < kills; kill += 1) {
      await pause(BETWEEN_KILLS_MS.least + Math.random() * BETWEEN_KILLS_MS.spread);
      const victim = kill % instances.length;
      await instances[victim]!.end("SIGKILL");
      urls[victim] = undefined;
      instances[victim] = start(victim);
      urls[victim] = await instances[victim].url();
      await untilAnswered();
    }
    await pause(BETWEEN_KILLS_MS.spread);
    over.abort();
    await Promise.all(callers);
    const told = await endpoints.haveArrived(() => toldBy(urls[0]!));
    return { told, endpoints, history: recorder.history };
  } finally {
    over.abort();
    await Promise.all(instances.map((one) => one.end("SIGKILL")));
    await endpoints.close();
  }
}

/** One caller after another payment. Whatever is not answered is left as it is: that is what the events are for. */
async function live(
  urlNow: () => string | undefined,
  onAnswer: () => void,
  recorder: HistoryRecorder,
  signal: AbortSignal,
): Promise<void> {
  const url = (): string => {
    const now = urlNow();
    if (now === undefined) throw new Error("its instance is down");
    return now;
  };
  while (!signal.aborted) {
    try {
      const wanted = { amount: 1_000, currency: "EUR", paymentMethod: "tok_ok" };
      const { payment } = (await call(url(), "POST", "/payments", wanted, recorder)) as {
        payment?: { id: string };
      };
      if (payment === undefined) throw new Error("no payment was made");
      onAnswer();
      await call(url(), "POST", `/payments/${payment.id}/capture`, {}, recorder);
      await call(url(), "GET", `/payments/${payment.id}`, undefined, recorder);
      await call(url(), "POST", `/payments/${payment.id}/refunds`, { amount: 400 }, recorder);
      await call(url(), "GET", `/gateway/payments/${payment.id}`, undefined, recorder);
      await pause(BETWEEN_PAYMENTS_MS);
    } catch {
      await pause(20);
    }
  }
}

async function call(
  url: string,
  method: string,
  path: string,
  body?: object,
  recorder?: HistoryRecorder,
): Promise<unknown> {
  const key = randomUUID();
  const record = recorder?.begin({ method, path, key, body: body ?? null });
  const response = await fetch(url + path, {
    method,
    headers: { "Content-Type": "application/json", "Idempotency-Key": key },
    signal: AbortSignal.timeout(10_000),
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const answer: unknown = await response.json();
  record?.({ status: response.status, body: answer });
  return answer;
}

async function toldBy(url: string): Promise<readonly DeliveredEvent[]> {
  const all: DeliveredEvent[] = [];
  let after = "";
  for (;;) {
    const page = (await call(url, "GET", `/events?limit=100${after}`)) as {
      data: readonly DeliveredEvent[];
      nextCursor: string;
    };
    all.push(...page.data);
    if (page.data.length === 0) return all;
    after = `&after=${page.nextCursor}`;
  }
}
