import {
  dueAtMs,
  type GatewayMove,
  type GatewayTables,
  type LedgerAuthorization,
  type LedgerEntry,
  type LooksAt,
} from "./gateway-ledger";
import { toAuthorization, toEntry, type Row } from "./sql-gateway-rows";

/** What was fetched for a work, as one instant had it. */
export interface FetchedRow {
  /** How often the payment's works have written. */
  readonly version: bigint;
  /** The ones that the work looks at, and all of the payment that wait for their time. */
  readonly entries: readonly Row[] | null;
  readonly authorizations: readonly Row[] | null;
}

/** What one work sees and writes: nothing of it is in the database before all of it is. */
export class PostgresGatewayTables implements GatewayTables {
  readonly newEntries = new Map<string, LedgerEntry>();
  readonly newAuthorizations = new Map<string, LedgerAuthorization>();
  readonly newMoves: GatewayMove[] = [];
  private readonly known = new Map<string, LedgerEntry | null>();
  private readonly authorizations = new Map<string, LedgerAuthorization | null>();

  constructor(
    private readonly stored: Pick<
      GatewayTables,
      "entry" | "entries" | "knowsOperation" | "authorization" | "moves"
    >,
    fetched: FetchedRow,
    private readonly looksAt: LooksAt,
  ) {
    // Asked for, so known, if only to be missing.
    if (looksAt.gatewayKey !== undefined) this.known.set(looksAt.gatewayKey, null);
    if (typeof looksAt.authorizationReference === "string")
      this.authorizations.set(looksAt.authorizationReference, null);
    for (const entry of (fetched.entries ?? []).map(toEntry)) this.known.set(entry.gatewayKey, entry);
    for (const authorization of (fetched.authorizations ?? []).map(toAuthorization))
      this.authorizations.set(authorization.reference, authorization);
  }

  get hasNews(): boolean {
    return this.newEntries.size + this.newAuthorizations.size + this.newMoves.length > 0;
  }

  async entry(gatewayKey: string): Promise<LedgerEntry | null> {
    const known = this.known.get(gatewayKey);
    return known === undefined ? this.stored.entry(gatewayKey) : known;
  }

  async putEntry(entry: LedgerEntry): Promise<void> {
    this.known.set(entry.gatewayKey, entry);
    this.newEntries.set(entry.gatewayKey, entry);
  }

  async knowsOperation(operationId: string): Promise<boolean> {
    const known = [...this.known.values()].some((entry) => entry?.operationId === operationId);
    return known || (operationId !== this.looksAt.operationId && this.stored.knowsOperation(operationId));
  }

  async dueEntries(paymentId: string, now: Date): Promise<readonly LedgerEntry[]> {
    return [...this.known.values()]
      .filter((entry) => entry !== null)
      .filter((entry) => entry.paymentId === paymentId && dueAtMs(entry) <= now.getTime())
      .sort((a, b) => dueAtMs(a) - dueAtMs(b) || (a.gatewayKey < b.gatewayKey ? -1 : 1));
  }

  async entries(paymentId: string): Promise<readonly LedgerEntry[]> {
    const stored = await this.stored.entries(paymentId);
    const added = [...this.newEntries.values()].filter((entry) => entry.paymentId === paymentId);
    const all = new Map([...stored, ...added].map((entry) => [entry.gatewayKey, entry]));
    return [...all.values()].sort((a, b) => (a.gatewayKey < b.gatewayKey ? -1 : 1));
  }

  async authorization(reference: string): Promise<LedgerAuthorization | null> {
    const known = this.authorizations.get(reference);
    return known === undefined ? this.stored.authorization(reference) : known;
  }

  async putAuthorization(authorization: LedgerAuthorization): Promise<void> {
    this.authorizations.set(authorization.reference, authorization);
    this.newAuthorizations.set(authorization.reference, authorization);
  }

  async appendMove(move: GatewayMove): Promise<void> {
    this.newMoves.push(move);
  }

  async moves(paymentId: string): Promise<readonly GatewayMove[]> {
    const before = await this.stored.moves(paymentId);
    return [...before, ...this.newMoves.filter((move) => move.paymentId === paymentId)];
  }
}
