import { setTimeout as pause } from "node:timers/promises";
import { inParallel } from "../../src/application/background/in-parallel";
import type { ToldEvent } from "../support/told-events";
import { joinedServer, startedProgram } from "../support/program/built-program";
import { HoldfastProcess } from "../support/program/holdfast-process";
import { quickRequest } from "../support/program/quick-request";
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
import { ARRIVED, type Arrivals, type CrashPoint } from "./crash-point";
import { sample, size } from "../support/test-size";
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

/** Payments that are at a point when their process dies. */
interface Dying {
  readonly point: CrashPoint;
  readonly at: readonly Cell[];
  /** What brings them there. Default: the same key once more. */
  readonly ask?: (url: string, cell: Cell) => Promise<Answer>;
}

/** The main files of both. */
export interface CrashPrograms {
  readonly crashing: string;
  readonly ordinary: string;
}

/** The program, and the server of the same sources that dies where it is told to. */
export async function crashPrograms(): Promise<CrashPrograms> {
  const options = { store: "memory:", behindMs: 0, passInterval: 0, flags: { "sandbox-limit": "0" } };
  const crashing = await joinedServer("crash/crashing-server.ts", options satisfies CrashingServerOptions);
  return { crashing, ordinary: await startedProgram() };
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

  /** All these cells are at their points when the process dies. */
  async function crashWith(all: readonly Dying[], behindMs: number): Promise<void> {
    const dying = all.filter(({ at }) => at.length > 0);
    if (dying.length === 0) return;
    const running = server({ behindMs, passInterval: 0, crash: dying.map(arrivalsOf) });
    const url = await running.url();
    const asked = (some: readonly Dying[]) =>
      some.flatMap(({ at, ask = resend }) =>
        at.map((cell) =>
          ask(url, cell).then(
            ({ status, body }) => {
              throw new Error(`${cell.name}: answered ${status} ${JSON.stringify(body)} instead of dying`);
            },
            () => undefined,
          ),
        ),
      );
    // What the gateway has answered is not kept for long by whoever cannot store it: those come last.
    const isHasty = ({ point }: Dying) => point.endsWith("settle");
    const patient = dying.filter((one) => !isHasty(one));
    const asking = asked(patient);
    if (asking.length < dying.flatMap(({ at }) => at).length) await arrivedAt(running, asking.length);
    await Promise.all([...asking, ...asked(dying.filter(isHasty))]);
    assertDied(await running.ended, dying);
  }

  function resend(url: string, cell: Cell): Promise<Answer> {
    return send(url, cell.kind, cell, ids.get(cell.name));
  }

  function arrivalsOf({ point, at }: Dying): Arrivals {
    // Where a process dies at one point, whoever comes there is meant.
    const only = at.map(({ name }) => [name, ids.get(name) ?? name]);
    return { point, arrivals: at.length, ...size<Pick<Arrivals, "only">>({}, { only }) };
  }

  await prepare();
  const first = Object.entries(firstCrashes).flatMap(([name, point]) =>
    point === null ? [] : [{ point, at: cells.filter((cell) => cell.first === name) }],
  );
  for (const group of inProcesses(first)) await crashWith(group, behind.first);
  const later = [
    Object.entries(secondCrashes).map(([name, point]) => ({
      point,
      at: cells.filter(({ second }) => second === name),
    })),
    verdictCrashes.map((point) => ({
      point,
      at: cells.filter(({ verdict }) => verdict === point),
      ask: decide,
    })),
    observationCrashes.map((point) => ({
      point,
      at: cells.filter(({ observation }) => observation === point),
      ask: observe,
    })),
  ];
  for (const group of inProcesses(later.flat())) await crashWith(group, behind.second);
  const lapsing = cells.filter(({ form }) => form === "lapses");
  const swept = sweeperCrashes.map((point, nth) => ({
    point,
    at: sample(lapsing, sweeperCrashes.length, nth),
  }));
  // In brief not those that the sweeper has taken up: they come first, and are too few for all points.
  const others = cells.filter(({ form }) => form !== "lapses");
  const reconciled = reconcilerCrashes.map((point) => ({
    ...arrivalsOf({ point, at: size(cells, others) }),
    arrivals: 1,
  }));
  for (const crash of [...inProcesses(swept.map(arrivalsOf)), ...inProcesses(reconciled)]) {
    const running = server({ behindMs: behind.reconciler, passInterval: 1, crash });
    assertDied(await running.ended, crash);
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
    await eachUntil("is decided", async (cell) => {
      const { events = [] } = onItsOwn.get(cell)?.account ?? {};
      return reviewOf(events) === undefined ? true : isDecided(cell);
    });
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

/** At full size, each point has a process that dies there; in brief, one process dies with payments at all of them. */
function inProcesses<T>(points: readonly T[]): readonly (readonly T[])[] {
  return size(
    points.map((one) => [one]),
    [points],
  );
}

/** Until so many payments have come to their points; or the process has ended, which whoever waits for that will tell. */
async function arrivedAt(running: HoldfastProcess, payments: number): Promise<void> {
  const isOver = running.ended.then(() => true);
  const isThere = () => running.printed.split("\n").filter((line) => line === ARRIVED).length >= payments;
  while (!isThere()) if (await Promise.race([isOver, pause(10, false)])) return;
}

function assertDied(
  { signal, stdout, stderr }: Awaited<HoldfastProcess["ended"]>,
  dying: readonly { readonly point: CrashPoint }[],
): void {
  const points = dying.map(({ point }) => point).join(", ");
  if (signal !== "SIGKILL" || !stdout.endsWith(`crashing ${points}\n`)) {
    throw new Error(`it did not die ${points}: ${signal} ${stdout} ${stderr}`);
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

export async function post(
  url: string,
  body: unknown,
  headers: Record<string, string> = {},
): Promise<Answer> {
  const answer = await quickRequest(url, {
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify(body),
  });
  const { requestId: _, ...said } = JSON.parse(answer.text) as Record<string, unknown>;
  return {
    status: answer.status,
    replayed: answer.headers["idempotency-replayed"] === "true",
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

/** All at one moment: the history is the same before the other questions and after them. */
async function accountOf(url: string, cell: Cell): Promise<Account | null> {
  const get = async <T>(path: string) => {
    const answer = await quickRequest(url + path);
    if (answer.status !== 200) throw new Error(`${path}: ${answer.status} ${answer.text}`);
    return JSON.parse(answer.text) as T;
  };
  const reference = encodeURIComponent(cell.name);
  const { data } = await get<{ data: { id: string }[] }>(`/payments?reference=${reference}`);
  const [found, ...others] = data;
  if (others.length > 0) throw new Error(`${cell.name}: several payments`);
  if (found === undefined) return null;
  const history = async () => (await get<{ data: Event[] }>(`/payments/${found.id}/events`)).data;
  const events = await history();
  const { payment } = await get<Pick<Account, "payment">>(`/payments/${found.id}`);
  const { moves } = await get<Pick<Account, "moves">>(`/gateway/payments/${found.id}`);
  const { data: told } = await get<{ data: ToldEvent[] }>(`/events?paymentId=${found.id}`);
  const isOfOneMoment = (await history()).length === events.length;
  return isOfOneMoment ? { payment, events, told, moves } : accountOf(url, cell);
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
