import { randomBytes } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import { HoldfastProcess } from "../support/program/holdfast-process";
import { HistoryRecorder } from "../support/linearizability/history/history-recorder";
import type { HttpCall } from "../support/linearizability/history/http-call";
import { StormEndpoints, TO_THIS_HOST } from "../support/receivers/storm-endpoints";
import { FeedFollower, type HistoryLine, type ToldEvent } from "../support/told-events";
import { isFinal, SteadyClient, type Answer } from "../support/program/steady-client";

export interface StormOptions {
  /** Of the built program. */
  readonly main: string;
  readonly folder: string;
  readonly store: string;
  readonly locks: string;
  readonly payments: number;
  /** Captures of one payment: every other one with the key that they share, the rest with keys of their own. */
  readonly capturesEach: number;
  /** Requests under way at a time. */
  readonly callers: number;
  /** What the slow endpoint takes for each event: so long that whoever is killed has something under way there. */
  readonly slowMs: number;
  /** Called once, when a third of the captures have been answered. Not waited for before the storm goes on. */
  readonly inTheMiddle?: () => Promise<void>;
  /** Which instances are killed and started again, one after the other. Default: one of them. */
  readonly killed?: readonly number[];
  /** For so long one instance is stopped in the middle, and wakes up where it was. Default: not at all. */
  readonly freezesForMs?: number;
}

/** Everything that one key of one payment was told, in the order in which it was told. */
export interface KeyStory {
  readonly paymentId: string;
  readonly key: string;
  readonly answers: readonly Answer[];
}

export interface StormOutcome {
  readonly stories: readonly KeyStory[];
  /** Everything that the callers saw, for the judge. */
  readonly history: readonly HttpCall[];
  readonly kills: number;
  readonly accounts: readonly Account[];
  /** What a reader was told that followed the feed all the time and never looked back. */
  readonly followed: readonly ToldEvent[];
  readonly histories: readonly { readonly paymentId: string; readonly lines: readonly HistoryLine[] }[];
  /** Were told of everything by webhooks, as far as they took it. */
  readonly endpoints: StormEndpoints;
  /** Answers per status and code, for people. */
  readonly tally: Readonly<Record<string, number>>;
  /** From the first capture to the last final answer. */
  readonly seconds: number;
}

/** Of one payment, by the store's own account and by the gateway's. */
export interface Account {
  readonly status: string;
  readonly captured: number;
  readonly amountCaptured: number;
  readonly moves: readonly string[];
}

/** An instance that was frozen finds that its time is over, has changed nothing, and says so. */
export function isLastWord(answer: Answer): boolean {
  return isFinal(answer) && answer.code !== "service_unavailable";
}

const INSTANCES = 3;
const LOOKS = 240;
const BETWEEN_LOOKS_MS = 250;

/**
 * Three instances on one database, of which some are killed in the middle and started again. Four endpoints, fast, slow,
 * dead and lying, are told of all of it meanwhile.
 */
export async function storm(options: StormOptions): Promise<StormOutcome> {
  const { main, folder, store, locks, payments, capturesEach, callers } = options;
  const args = ["serve", "--store", store, "--locks", locks, "--port", "0", "--log-level", "fatal"];
  const env = { HOLDFAST_SECRETS_KEY: randomBytes(32).toString("base64") };
  let started = 0;
  const start = () => {
    // Without locks that all of them share, no two may share a snapshot directory.
    const alone = ["--allow-unlocked", "--snapshots", `file:${folder}/snapshots-${(started += 1)}`];
    const flags = [...args, ...TO_THIS_HOST, ...(locks === "none:" ? alone : [])];
    return new HoldfastProcess([main, ...flags], { cwd: folder, env });
  };
  const endpoints = await StormEndpoints.open(options.slowMs);
  const instances = Array.from({ length: INSTANCES }, start);
  const recorder = new HistoryRecorder("callers", `${folder}/history.jsonl`);
  const client = new SteadyClient(recorder);
  try {
    const urls = await Promise.all(instances.map((instance) => instance.url()));
    await endpoints.attachTo(urls[0]!);
    const follower = new FeedFollower(urls);
    const ids = await inParallel(callers, payments, async (n) => {
      const answer = await client.post(urls[n % INSTANCES]!, "/payments", `order-${n}`, {
        amount: 1_000 + n,
        currency: "EUR",
        paymentMethod: "tok_ok",
      });
      if (answer?.status !== 201) throw new Error(`payment ${n}: ${JSON.stringify(answer)}`);
      return answer.paymentId;
    });

    const stories = ids.flatMap((paymentId) =>
      keysOf(capturesEach).map((key) => ({ paymentId, key, answers: [] as Answer[] })),
    );
    const captures = inTurn(stories, capturesEach);
    let done = 0;
    const { killed = [1] } = options;
    let middle: Promise<unknown> | undefined;
    const begunMs = performance.now();
    await inParallel(callers, captures.length, async (n) => {
      const story = captures[n]!;
      const path = `/payments/${story.paymentId}/capture`;
      for (let turn = n; ; turn += 1) {
        const answer = await client.post(urls[turn % INSTANCES]!, path, story.key, {});
        // Nobody answered: somebody else will.
        if (answer === null) continue;
        story.answers.push(answer);
        if (isLastWord(answer)) break;
        await pause(answer.retryAfterMs);
      }
      done += 1;
      if (done >= captures.length / 3)
        middle ??= Promise.all([
          options.inTheMiddle?.(),
          killAndRestart(instances, urls, start, killed),
          freeze(instances[2]!, options.freezesForMs ?? 0),
        ]);
    });
    await middle;
    const seconds = (performance.now() - begunMs) / 1_000;
    const accounts = await inParallel(callers, ids.length, (n) => settledAccount(client, urls[0]!, ids[n]!));
    const histories = await inParallel(callers, ids.length, async (n) => {
      const paymentId = ids[n]!;
      const { data } = await client.get<{ data: HistoryLine[] }>(urls[0]!, `/payments/${paymentId}/events`);
      return { paymentId, lines: data };
    });
    const followed = await follower.end();
    await endpoints.haveArrived(async () => followed);
    const { history } = recorder;
    const told = { followed, histories, endpoints, tally: tallyOf(stories) };
    return { stories, history, kills: killed.length, accounts, ...told, seconds };
  } finally {
    client.close();
    await Promise.all(instances.map((instance) => instance.end("SIGKILL")));
    await endpoints.close();
  }
}

async function freeze(instance: HoldfastProcess, forMs: number): Promise<void> {
  if (forMs === 0) return;
  instance.signal("SIGSTOP");
  try {
    await pause(forMs);
  } finally {
    instance.signal("SIGCONT");
  }
}

const MOST_STARTS = 5;

async function killAndRestart(
  instances: HoldfastProcess[],
  urls: string[],
  start: () => HoldfastProcess,
  killed: readonly number[],
): Promise<void> {
  for (const victim of killed) {
    await instances[victim]!.end("SIGKILL");
    // As a supervisor would: a server does not start while its locks do not answer.
    for (let attempt = 1; ; attempt += 1) {
      const again = start();
      instances[victim] = again;
      try {
        urls[victim] = await again.url();
        break;
      } catch (error) {
        if (attempt === MOST_STARTS) throw error;
      }
    }
  }
}

/** `shared`, and one key of its own for every other capture. */
function keysOf(capturesEach: number): string[] {
  return ["shared", ...Array.from({ length: Math.floor(capturesEach / 2) }, (_, n) => `own-${n}`)];
}

/** Shared and own keys in turn; a payment's captures are close together, so that they meet. */
function inTurn<Story extends { readonly key: string }>(
  stories: readonly Story[],
  capturesEach: number,
): Story[] {
  const keys = keysOf(capturesEach).length;
  const captures: Story[] = [];
  for (let first = 0; first < stories.length; first += keys)
    for (let n = 0; n < capturesEach; n += 1)
      captures.push(stories[first + (n % 2 === 0 ? 0 : 1 + (n - 1) / 2)]!);
  return captures;
}

/** Waits until nothing of the payment is open. */
async function settledAccount(client: SteadyClient, url: string, id: string): Promise<Account> {
  for (let look = 0; look < LOOKS; look += 1) {
    const { payment } = await client.get<{ payment: PaymentOnWire }>(url, `/payments/${id}`);
    const open = payment.captures.some(({ status }) => status === "unknown");
    if (!open && payment.status === "captured") {
      const { moves } = await client.get<{ moves: { kind: string }[] }>(url, `/gateway/payments/${id}`);
      return {
        status: payment.status,
        captured: payment.captures.filter(({ status }) => status === "succeeded").length,
        amountCaptured: payment.amountCaptured,
        moves: moves.map(({ kind }) => kind),
      };
    }
    await pause(BETWEEN_LOOKS_MS);
  }
  throw new Error(`${id} stays open`);
}

interface PaymentOnWire {
  readonly status: string;
  readonly amountCaptured: number;
  readonly captures: readonly { readonly status: string }[];
}

function tallyOf(stories: readonly KeyStory[]): Record<string, number> {
  const tally: Record<string, number> = {};
  for (const { status, code } of stories.flatMap(({ answers }) => answers)) {
    const name = `${status} ${code ?? ""}`.trim();
    tally[name] = (tally[name] ?? 0) + 1;
  }
  return tally;
}

async function inParallel<T>(callers: number, count: number, work: (n: number) => Promise<T>): Promise<T[]> {
  const results: T[] = [];
  let next = 0;
  const caller = async (): Promise<void> => {
    for (let n = next++; n < count; n = next++) results[n] = await work(n);
  };
  await Promise.all(Array.from({ length: callers }, caller));
  return results;
}
