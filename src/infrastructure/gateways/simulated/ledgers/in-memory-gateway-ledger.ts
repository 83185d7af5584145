import { Mutex } from "async-mutex";

import {
  dueAtMs,
  type GatewayLedger,
  type GatewayMove,
  type GatewayTables,
  type LedgerAuthorization,
  type LedgerEntry,
  type MoveTotals,
} from "./gateway-ledger";
import { snapshotOf, type GatewaySnapshot, restoreSnapshot } from "./gateway-snapshot";

const byKey = (a: LedgerEntry, b: LedgerEntry) => (a.gatewayKey < b.gatewayKey ? -1 : 1);

/**
 * Excludes the callers of this process from each other.
 * Survives nothing, but can be taken along as a snapshot.
 * Not for a store that outlives the process: the gateway would have forgotten what it captured.
 */
export class InMemoryGatewayLedger implements GatewayLedger {
  private readonly entries = new Map<string, LedgerEntry>();
  private readonly operations = new Set<string>();
  /** Keys of entries that are due some day; few, so that nobody has to look through all of them. */
  private readonly waiting = new Set<string>();
  private readonly authorizations = new Map<string, LedgerAuthorization>();
  private readonly movesByPayment = new Map<string, GatewayMove[]>();
  private readonly mutex = new Mutex();

  static restore(snapshot: unknown): InMemoryGatewayLedger {
    const ledger = new InMemoryGatewayLedger();
    const { entries, authorizations, moves } = restoreSnapshot(snapshot);
    for (const entry of entries) ledger.setEntry(entry.gatewayKey, entry);
    for (const authorization of authorizations) {
      ledger.authorizations.set(authorization.reference, authorization);
    }
    for (const move of moves) ledger.movesOf(move.paymentId).push(move);
    return ledger;
  }

  /** JSON. Waits for the work that is under way, so that nothing in it is half done. */
  snapshot(): Promise<GatewaySnapshot> {
    return this.snapshotTogether((gateway) => gateway);
  }

  /** The same, and in the very same instant, with nothing awaited in between, what `others` takes from elsewhere. */
  snapshotTogether<T>(others: (gateway: GatewaySnapshot) => T): Promise<T> {
    return this.mutex.runExclusive(() =>
      others(
        snapshotOf({
          entries: [...this.entries.values()],
          authorizations: [...this.authorizations.values()],
          moves: [...this.movesByPayment.values()].flat(),
        }),
      ),
    );
  }

  transaction<T>(_paymentId: string, work: (tables: GatewayTables) => Promise<T>): Promise<T> {
    return this.mutex.runExclusive(async () => {
      const undo: (() => void)[] = [];
      try {
        return await work(this.tables(undo));
      } catch (error) {
        for (const step of undo.reverse()) step();
        throw error;
      }
    });
  }

  async duePayments(now: Date): Promise<readonly string[]> {
    return [...new Set(this.due(now).map(({ paymentId }) => paymentId))];
  }

  async totals(): Promise<MoveTotals> {
    const totals = {
      authorize: { count: 0, minorUnits: 0n },
      capture: { count: 0, minorUnits: 0n },
      void: { count: 0, minorUnits: 0n },
      refund: { count: 0, minorUnits: 0n },
    };
    for (const { kind, amount } of [...this.movesByPayment.values()].flat()) {
      totals[kind].count += 1;
      totals[kind].minorUnits += amount.amount;
    }
    return totals;
  }

  private tables(undo: (() => void)[]): GatewayTables {
    return {
      entry: async (gatewayKey) => this.entries.get(gatewayKey) ?? null,
      putEntry: async (entry) => {
        const before = this.entries.get(entry.gatewayKey);
        const knewOperation = this.operations.has(entry.operationId);
        undo.push(() => {
          this.setEntry(entry.gatewayKey, before);
          if (!knewOperation) this.operations.delete(entry.operationId);
        });
        this.setEntry(entry.gatewayKey, entry);
      },
      knowsOperation: async (operationId) => this.operations.has(operationId),
      dueEntries: async (paymentId, now) => this.due(now).filter((entry) => entry.paymentId === paymentId),
      entries: async (paymentId) =>
        [...this.entries.values()].filter((entry) => entry.paymentId === paymentId).sort(byKey),
      authorization: async (reference) => this.authorizations.get(reference) ?? null,
      putAuthorization: async (authorization) => {
        const { reference } = authorization;
        const before = this.authorizations.get(reference);
        undo.push(() => {
          if (before === undefined) this.authorizations.delete(reference);
          else this.authorizations.set(reference, before);
        });
        this.authorizations.set(reference, authorization);
      },
      appendMove: async (move) => {
        const moves = this.movesOf(move.paymentId);
        undo.push(() => void moves.pop());
        moves.push(move);
      },
      moves: async (paymentId) => [...(this.movesByPayment.get(paymentId) ?? [])],
    };
  }

  private setEntry(gatewayKey: string, entry: LedgerEntry | undefined): void {
    if (entry === undefined) {
      this.entries.delete(gatewayKey);
      this.waiting.delete(gatewayKey);
      return;
    }
    this.entries.set(gatewayKey, entry);
    this.operations.add(entry.operationId);
    if ("dueAt" in entry.state) this.waiting.add(gatewayKey);
    else this.waiting.delete(gatewayKey);
  }

  private due(now: Date): LedgerEntry[] {
    return [...this.waiting]
      .flatMap((gatewayKey) => this.entries.get(gatewayKey) ?? [])
      .filter((entry) => dueAtMs(entry) <= now.getTime())
      .sort((a, b) => dueAtMs(a) - dueAtMs(b));
  }

  private movesOf(paymentId: string): GatewayMove[] {
    const known = this.movesByPayment.get(paymentId);
    if (known !== undefined) return known;
    const moves: GatewayMove[] = [];
    this.movesByPayment.set(paymentId, moves);
    return moves;
  }
}
