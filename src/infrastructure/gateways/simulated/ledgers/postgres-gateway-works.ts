import { CompiledQuery } from "kysely";
import { StoreUnavailableError } from "../../../../application/ports/payment-repository";
import type { PostgresDatabase } from "../../../persistence/postgres/postgres-database";
import { toJson } from "../../../persistence/postgres/postgres-json";
import { GroupedCalls } from "../../../persistence/postgres/together/grouped-calls";
import { MOST_TOGETHER } from "../../../persistence/postgres/together/most-together";
import { textArray } from "../../../persistence/postgres/together/text-array";
import type { LooksAt } from "./gateway-ledger";
import { PostgresGatewayStatements } from "./postgres-gateway-statements";
import type { FetchedRow, PostgresGatewayTables } from "./postgres-gateway-tables";
import { authorizationRow, entryRow, moveRow } from "./sql-gateway-rows";

interface Look {
  readonly paymentId: string;
  readonly looksAt: LooksAt;
}

interface Work {
  readonly paymentId: string;
  /** As it was fetched. */
  readonly version: bigint;
  readonly tables: PostgresGatewayTables;
}

/** What works fetch and write. Those that come together go as one statement, and each is written on its own condition. */
export class PostgresGatewayWorks {
  private readonly statements: PostgresGatewayStatements;
  private readonly looks: GroupedCalls<Look, FetchedRow>;
  private readonly works: GroupedCalls<Work, boolean | "alone">;

  constructor(
    private readonly database: PostgresDatabase,
    schema: string,
  ) {
    this.statements = new PostgresGatewayStatements(schema);
    this.looks = new GroupedCalls({ most: MOST_TOGETHER, send: (looks) => this.fetchAll(looks) });
    this.works = new GroupedCalls({
      most: MOST_TOGETHER,
      keyOf: ({ paymentId }) => paymentId,
      send: (works) => this.writeTogether(works),
    });
  }

  fetch(paymentId: string, looksAt: LooksAt): Promise<FetchedRow> {
    return this.looks.ask({ paymentId, looksAt });
  }

  /** Resolves with false if somebody else's work was faster: nothing is written then. */
  async write(work: Work): Promise<boolean> {
    const told = await this.works.ask(work);
    return told === "alone" ? (await this.send([work])).has(work.paymentId) : told;
  }

  private fetchAll(looks: readonly Look[]): Promise<readonly FetchedRow[]> {
    return this.database.rows<FetchedRow>(
      CompiledQuery.raw(this.statements.fetch, [
        textArray(looks.map(({ paymentId }) => paymentId)),
        textArray(looks.map(({ looksAt }) => looksAt.gatewayKey ?? null)),
        textArray(looks.map(({ looksAt }) => looksAt.operationId ?? null)),
        textArray(looks.map(({ looksAt }) => looksAt.authorizationReference ?? null)),
      ]),
    );
  }

  /** What refused all of them may be one's own. Where the answer was lost, it is not known of any of them. */
  private async writeTogether(works: readonly Work[]): Promise<readonly (boolean | "alone")[]> {
    try {
      const written = await this.send(works);
      return works.map(({ paymentId }) => written.has(paymentId));
    } catch (error) {
      const isUnknown = error instanceof StoreUnavailableError && error.outcome === "unknown";
      if (works.length === 1 || isUnknown) throw error;
      return works.map(() => "alone");
    }
  }

  /** Resolves with the payments whose works are written. */
  private async send(works: readonly Work[]): Promise<ReadonlySet<string>> {
    // In one order in every process: two groups that meet in several payments wait for each other, but never both.
    const sorted = [...works].sort((a, b) => (a.paymentId < b.paymentId ? -1 : 1));
    const rowsOf = (of: (tables: PostgresGatewayTables) => readonly object[]): string =>
      toJson(
        sorted.flatMap(({ paymentId, tables }) => of(tables).map((row) => ({ work: paymentId, ...row }))),
      );
    const rows = await this.database.once<{ work: string }>(
      CompiledQuery.raw(this.statements.write, [
        textArray(sorted.map(({ paymentId }) => paymentId)),
        `{${sorted.map(({ version }) => version).join(",")}}`,
        rowsOf(({ newEntries }) => [...newEntries.values()].map(entryRow)),
        rowsOf(({ newAuthorizations }) => [...newAuthorizations.values()].map(authorizationRow)),
        rowsOf(({ newMoves }) => newMoves.map(moveRow)),
      ]),
    );
    return new Set(rows.map(({ work }) => work));
  }
}
