import { setTimeout as pause } from "node:timers/promises";
import { inParallel } from "../../src/application/background/in-parallel";
import type { ToldEvent } from "../support/told-events";
import { joinedCrashingServer, startedProgram } from "../support/program/built-program";
import { HoldfastProcess } from "../support/program/holdfast-process";
import {
  cells,
  firstCrashes,
  movements,
  observationCrashes,
  reconcilerCrashes,
  secondCrashes,
  sweeperCrashes,
  tokenOf,
  verdictCrashes,
  type Cell,
  type MovementKind,
} from "./crash-matrix";
import type { CrashPoint } from "./crash-point";
import type { CrashingServerOptions } from "./crashing-server";

const MINUTE = 60_000;
/** Each process's clock is ahead of the one before: what a dead one left open is due at once. */
const behind = { preparation: 30 * MINUTE, first: 20 * MINUTE, second: 10 * MINUTE, reconciler: 5 * MINUTE };
/** Over, with the grace that other clocks are given, when the sweeper comes. */
const LAPSES_AFTER_SECONDS = 60;
/** Far more often than it takes. */
const MAX_LOOKS = 240;
const BETWEEN_LOOKS_MS = 250;
const REQUESTS_AT_ONCE = 16;

export interface Answer {
  readonly status: number;
  readonly replayed: boolean;
  // What a server sent is not known before it was looked at.
  // eslint-disable-next-line @typescript-eslint/no-explicit-any
  readonly body: any;
}

export interface Event {
  readonly id: string;
  readonly type: string;
  readonly data: {
    readonly operationId?: string;
    readonly release?: boolean;
    readonly again?: boolean;
    readonly failureCode?: string;
    readonly origin?: string;
  };
}

/** What is there, by the store's own account and by the gateway's. */
export interface Account {
  // eslint-disable-next-line @typescript-eslint/no-explicit-any
  readonly payment: any;
  readonly events: readonly Event[];
  /** Of this payment, by the feed. */
  readonly told: readonly ToldEvent[];
  readonly moves: readonly { readonly kind: string; readonly gatewayKey: string; readonly amount: number }[];
}

export interface CellOutcome {
  /** Everything that was answered to this cell's callers before the last restart. */
  readonly acknowledged: readonly { readonly kind: MovementKind; readonly answer: Answer }[];
  /** When nothing was open any more, before anybody asked again. Null: there is no such payment. */
  readonly onItsOwn: Account | null;
  /** The same key, until the answer is final, and then once more. */
  readonly again: readonly [Answer, Answer];
  readonly inTheEnd: Account;
}

/** The main files of both. */
export interface CrashPrograms {
  readonly crashing: string;
  readonly ordinary: string;
}

/** The program, and the server of the same sources that dies where it is told to. */
export async function crashPrograms(): Promise<CrashPrograms> {
  return { crashing: await joinedCrashingServer(), ordinary: await startedProgram() };
}

/** Goes through all cells on one store: crash after crash, then the ordinary program. */
export async function runCrashMatrix(
  store: string,
  folder: string,
  programs: CrashPrograms,
): Promise<Map<string, CellOutcome>> {
  const acknowledged = new Map<string, { kind: MovementKind; answer: Answer }[]>(
    cells.map(({ name }) => [name, []]),
  );
  const ids = new Map<string, string>();
  const acknowledge = (cell: Cell, kind: MovementKind, answer: Answer) => {
    acknowledged.get(cell.name)!.push({ kind, answer });
    ids.set(cell.name, answer.body.payment?.id ?? answer.body.paymentId);
  };
  const server = (options: Omit<CrashingServerOptions, "store">) =>
    new HoldfastProcess(
      [programs.crashing, JSON.stringify({ store, ...options } satisfies CrashingServerOptions)],
      { cwd: folder },
    );

  async function prepare(): Promise<void> {
    const running = server({ behindMs: behind.preparation, passInterval: 0 });
    const url = await running.url();
    await inParallel(cells, REQUESTS_AT_ONCE, async (cell) => {
      for (const kind of movements[cell.kind].after)
        acknowledge(cell, kind, await send(url, kind, cell, ids.get(cell.name)));
      if (cell.form === "not sent before")
        acknowledge(cell, cell.kind, await send(url, cell.kind, cell, ids.get(cell.name)));
      if (firstCrashes[cell.first] === null)
        acknowledge(cell, cell.kind, await send(url, cell.kind, cell, ids.get(cell.name)));
    });
    await running.end("SIGKILL");
  }

  /** All these cells are at that point when the process dies. */
  async function crashWith(
    dying: readonly Cell[],
    point: CrashPoint,
    behindMs: number,
    ask = (url: string, cell: Cell) => send(url, cell.kind, cell, ids.get(cell.name)),
  ): Promise<void> {
    if (dying.length === 0) return;
    const running = server({ behindMs, passInterval: 0, crash: { point, arrivals: dying.length } });
    const url = await running.url();
    await Promise.all(
      dying.map((cell) =>
        ask(url, cell).then(
          ({ status, body }) => {
            throw new Error(`${cell.name}: answered ${status} ${JSON.stringify(body)} instead of dying`);
          },
          () => undefined,
        ),
      ),
    );
    assertDied(await running.ended, point);
  }

  await prepare();
  for (const [first, point] of Object.entries(firstCrashes)) {
    if (point === null) continue;
    const dying = cells.filter((cell) => cell.first === first);
    await crashWith(dying, point, behind.first);
  }
  for (const [second, point] of Object.entries(secondCrashes)) {
    const dying = cells.filter((cell) => cell.second === second);
    await crashWith(dying, point, behind.second);
  }
  for (const verdict of verdictCrashes) {
    const dying = cells.filter((cell) => cell.verdict === verdict);
    await crashWith(dying, verdict, behind.second, decide);
  }
  for (const observation of observationCrashes) {
    const dying = cells.filter((cell) => cell.observation === observation);
    await crashWith(dying, observation, behind.second, observe);
  }
  const lapsing = cells.filter(({ form }) => form === "lapses");
  for (const [point, arrivals] of [
    ...sweeperCrashes.map((sweep) => [sweep, lapsing.length] as const),
    ...reconcilerCrashes.map((reconcile) => [reconcile, 1] as const),
  ]) {
    const running = server({ behindMs: behind.reconciler, passInterval: 1, crash: { point, arrivals } });
    assertDied(await running.ended, point);
  }

  const last = new HoldfastProcess(
    [programs.ordinary, "serve", "--store", store, "--port", "0", "--pass-interval", "1"],
    { cwd: folder },
  );
  try {
    const url = await last.url();
    const onItsOwn = await eachUntil("has nothing open", (cell) => settledAccount(url, cell));
    const idOf = (cell: Cell) => onItsOwn.get(cell)?.account?.payment.id as string | undefined;
    const isDecided = async (cell: Cell) => {
      const account = await accountOf(url, cell);
      if (account === null || reviewOf(account.events) === undefined) return true;
      await decide(url, cell);
      return undefined;
    };
    await eachUntil("is decided", isDecided);
    const first = await eachUntil("has its final answer", async (cell) => {
      const answer = await send(url, cell.kind, cell, idOf(cell));
      if (answer.status !== 202 && answer.status !== 503) return answer;
      // A caller who is told to come back does.
      await isDecided(cell);
      return undefined;
    });
    const second = await eachUntil("is answered", (cell) => send(url, cell.kind, cell, idOf(cell)));
    const inTheEnd = await eachUntil("has nothing open", (cell) => settledAccount(url, cell));
    const outcomes = cells.map((cell): [string, CellOutcome] => {
      const end = inTheEnd.get(cell)!.account;
      if (end === null) throw new Error(`${cell.name}: there is no payment in the end`);
      return [
        cell.name,
        {
          acknowledged: acknowledged.get(cell.name)!,
          onItsOwn: onItsOwn.get(cell)!.account,
          again: [first.get(cell)!, second.get(cell)!],
          inTheEnd: end,
        },
      ];
    });
    return new Map(outcomes);
  } finally {
    await last.end("SIGKILL");
  }
}

function assertDied({ signal, stdout, stderr }: Awaited<HoldfastProcess["ended"]>, point: CrashPoint): void {
  if (signal !== "SIGKILL" || !stdout.startsWith(`crashing ${point}`)) {
    throw new Error(`it did not die ${point}: ${signal} ${stdout} ${stderr}`);
  }
}

/** What a person says who has seen in the gateway's dashboard that the money was captured there. */
async function decide(url: string, cell: Cell): Promise<Answer> {
  const operationId = reviewOf((await accountOf(url, cell))?.events ?? []);
  if (operationId === undefined) throw new Error(`${cell.name}: there is nothing to decide`);
  const body = { outcome: "not_moved", evidence: "captured in the gateway's dashboard" };
  return post(`${url}/reviews/${operationId}`, body);
}

/** What an operator does who has heard that something went on at the gateway. */
async function observe(url: string, cell: Cell): Promise<Answer> {
  return post(`${url}/gateway/payments/${(await accountOf(url, cell))?.payment.id}/observe`, {});
}

/** Asks with the cell's own key: the same each time. */
async function send(url: string, kind: MovementKind, cell: Cell, paymentId = ""): Promise<Answer> {
  const body =
    kind === "authorize"
      ? {
          amount: 1_000,
          currency: "EUR",
          paymentMethod: tokenOf(cell),
          reference: cell.name,
          ...(cell.form === "lapses" ? { expiresIn: LAPSES_AFTER_SECONDS } : {}),
        }
      : {};
  return post(url + movements[kind].path(paymentId), body, { "idempotency-key": keyOf(kind, cell) });
}

async function post(url: string, body: unknown, headers: Record<string, string> = {}): Promise<Answer> {
  const answer = await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify(body),
  });
  const { requestId: _, ...said } = (await answer.json()) as Record<string, unknown>;
  return {
    status: answer.status,
    replayed: answer.headers.get("idempotency-replayed") === "true",
    body: said,
  };
}

function keyOf(kind: MovementKind, cell: Cell): string {
  return `${kind}-${cells.indexOf(cell)}`;
}

/** Asks about each cell until there is an answer. A few at a time: it is not the server's patience that is tested here. */
async function eachUntil<T>(
  what: string,
  ask: (cell: Cell) => Promise<T | undefined>,
): Promise<Map<Cell, T>> {
  const answers = new Map<Cell, T>();
  let missing = cells;
  for (let look = 0; look < MAX_LOOKS; look += 1) {
    await inParallel(missing, REQUESTS_AT_ONCE, async (cell) => {
      const answer = await ask(cell);
      if (answer !== undefined) answers.set(cell, answer);
    });
    missing = cells.filter((cell) => !answers.has(cell));
    if (missing.length === 0) return answers;
    await pause(BETWEEN_LOOKS_MS);
  }
  throw new Error(`never ${what}: ${missing.map(({ name }) => name).join("; ")}`);
}

async function settledAccount(url: string, cell: Cell): Promise<{ account: Account | null } | undefined> {
  const account = await accountOf(url, cell);
  if (account === null) return { account };
  const open = openOperations(account.events);
  // The next question is minutes away; an operator need not wait for it.
  if (isPending(account.events, open)) await observe(url, cell);
  // What waits for a person stays as it is.
  const isWaiting = open.length === 1 && open[0] === reviewOf(account.events);
  return open.length === 0 || isWaiting ? { account } : undefined;
}

/** The history first: where that shows an end, nothing changes between these questions. */
async function accountOf(url: string, cell: Cell): Promise<Account | null> {
  const get = async <T>(path: string) => {
    const answer = await fetch(url + path);
    if (answer.status !== 200) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
    return (await answer.json()) as T;
  };
  const reference = encodeURIComponent(cell.name);
  const { data } = await get<{ data: { id: string }[] }>(`/payments?reference=${reference}`);
  const [found, ...others] = data;
  if (others.length > 0) throw new Error(`${cell.name}: several payments`);
  if (found === undefined) return null;
  const { data: events } = await get<{ data: Event[] }>(`/payments/${found.id}/events`);
  const { payment } = await get<Pick<Account, "payment">>(`/payments/${found.id}`);
  const { moves } = await get<Pick<Account, "moves">>(`/gateway/payments/${found.id}`);
  const { data: told } = await get<{ data: ToldEvent[] }>(`/events?paymentId=${found.id}`);
  return { payment, events, told, moves };
}

/** Operations whose last word in the history is not an end. */
export function openOperations(events: readonly Event[]): string[] {
  const last = new Map<string, boolean>();
  for (const { type, data } of events) {
    if (data.operationId === undefined) continue;
    const ended =
      /\.(succeeded|not_sent|resolved)$/.test(type) ||
      // A release that is refused goes on, unless there is nothing that it could let go.
      (/\.failed$/.test(type) && (data.release !== true || data.failureCode !== undefined));
    last.set(data.operationId, ended);
  }
  return [...last].filter(([, ended]) => !ended).map(([id]) => id);
}

function isPending(events: readonly Event[], open: readonly string[]): boolean {
  const last = events.findLast(({ data }) => data.operationId === open[0]);
  return last?.type.endsWith(".pending") === true;
}

/** The operation that a person has to decide about. */
export function reviewOf(events: readonly Event[]): string | undefined {
  const last = events.findLast(({ type }) => /^(operation\.needs_review|review\.resolved)$/.test(type));
  return last?.type === "operation.needs_review" ? last.data.operationId : undefined;
}
