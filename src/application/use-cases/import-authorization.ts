import { parsePaymentId, type IdempotencyKey } from "../../domain/identifiers";
import type { KeyedRequest } from "../../domain/payment/facts";
import { labelsOf, type PaymentLabels } from "../../domain/labels";
import { importPayment } from "../../domain/payment/opening";
import { PaymentError } from "../../domain/payment/errors";
import type { Caller } from "../operations/caller";
import { lookUp } from "../operations/ask-gateway";
import { fingerprint, labelParts } from "../operations/fingerprint";
import { isInDoubt, lookAgain } from "../operations/in-doubt";
import { stepNow, type OperationContext } from "../operations/operation-context";
import { outcomeOf, type OperationOutcome } from "../operations/operation-outcome";
import { throughGateway } from "../operations/through-gateway";
import type {
  AuthorizationLookup,
  ForeignAuthorization,
  SeenAuthorization,
} from "../ports/authorization-lookup";
import type { LockProvider } from "../ports/lock-provider";
import { DuplicateAuthorizationError, DuplicateKeyError } from "../ports/payment-repository";

export interface ImportAuthorizationCommand extends PaymentLabels {
  readonly idempotencyKey: IdempotencyKey;
  readonly gatewayReference: string;
  /** Null: as long as the gateway keeps the money, or a week if it does not say. */
  readonly expiresInSeconds: number | null;
}

const WEEK_SECONDS = 7 * 86_400;

/**
 * Whose authorizations the gateway has. In an account that merchants share, an authorization is taken over by whom its
 * own record names, or by an operator; to everybody else it does not exist, whatever has become of it.
 */
export type GatewayAccount = "shared" | "the merchant's own";

/**
 * Makes a payment of an authorization that was made elsewhere. The gateway is only asked, so there is nothing to send,
 * nothing to resolve and no lock to wait for: the store lets one payment have the key, and one the authorization.
 */
export class ImportAuthorization {
  constructor(
    private readonly locks: LockProvider,
    private readonly operations: OperationContext,
    private readonly authorizations: AuthorizationLookup,
    private readonly account: GatewayAccount,
  ) {}

  async execute(command: ImportAuthorizationCommand, caller: Caller): Promise<OperationOutcome> {
    const replay = await this.again(command, caller);
    if (replay !== null) return replay;
    const account = (await this.operations.accounts?.accountOf(caller.merchant)) ?? null;
    const found = await this.lookedUp(command.gatewayReference, account, caller);
    try {
      return await this.first(found, account, command, caller);
    } catch (error) {
      const made = async (): Promise<OperationOutcome> => {
        const winner = await this.again(command, caller);
        if (winner !== null) return winner;
        throw error instanceof DuplicateAuthorizationError ? alreadyImported(command) : error;
      };
      if (isInDoubt(error)) return lookAgain(error, made);
      // Another request with this key was faster: it has taken both, and the store may name either. What it made is what
      // this one gets.
      if (error instanceof DuplicateKeyError || error instanceof DuplicateAuthorizationError) return made();
      throw error;
    }
  }

  private async lookedUp(
    gatewayReference: string,
    account: string | null,
    caller: Caller,
  ): Promise<ForeignAuthorization> {
    // Before the gateway is asked, whatever it will say: a stranger must not tell by the time what there is.
    const owned = await this.ownedIn(account);
    const answer = await lookUp(this.authorizations, gatewayReference, account);
    if (answer.outcome === "unknown") {
      const code = answer.refused === true ? "gateway_access_refused" : "gateway_unavailable";
      throw new PaymentError(code, { reason: answer.reason });
    }
    // Before anything that depends on the authorization's state, or its code would tell a stranger about it.
    if (answer.outcome === "not_found" || !mayTake(answer, owned, caller)) {
      throw new PaymentError("authorization_not_found", { gatewayReference });
    }
    switch (answer.outcome) {
      case "found":
        return answer.authorization;
      case "not_capturable":
        throw new PaymentError("authorization_not_capturable", { gatewayReference, reason: answer.reason });
      case "undecided":
        throw new PaymentError("gateway_unavailable", { reason: answer.reason });
    }
  }

  /** An account that several merchants have is none of theirs alone. */
  private async ownedIn(account: string | null): Promise<"all" | "unnamed" | "named"> {
    if (this.account !== "shared") return "all";
    if (account === null || (await this.operations.accounts?.isShared(account)) !== false) return "named";
    return "unnamed";
  }

  private async first(
    found: ForeignAuthorization,
    gatewayAccount: string | null,
    command: ImportAuthorizationCommand,
    caller: Caller,
  ): Promise<OperationOutcome> {
    const { operations } = this;
    const { gatewayReference } = command;
    // One that this service made belongs to the payment it was made for, even if that one has not heard of it yet.
    if (found.paymentId !== null) throw alreadyImported(command);
    const step = stepNow(operations, {
      by: caller.actor,
      gateway: { asked: "lookup", answer: "found", reference: found.reference },
    });
    const expiresAt = endOf(found, command, step.now);
    if (expiresAt <= step.now) {
      throw new PaymentError("authorization_not_capturable", { gatewayReference, reason: "expired" });
    }
    const { payment, operationId } = importPayment(
      {
        id: parsePaymentId(operations.ids.nextId()),
        merchant: caller.merchant,
        amount: found.amount,
        paymentMethod: "",
        gatewayAccount,
        ...labelsOf(command),
        expiresAt,
      },
      found.reference,
      requestOf(command, caller),
      step,
    );
    const stored = await operations.payments.save(payment, "new");
    return outcomeOf(stored.payment, operationId, false);
  }

  /** What this key has made before; null if it is new. */
  private async again(command: ImportAuthorizationCommand, caller: Caller): Promise<OperationOutcome | null> {
    const { idempotencyKey } = command;
    const paymentId = await this.operations.payments.findByAuthorizeKey(caller.merchant, idempotencyKey);
    if (paymentId === null) return null;
    return throughGateway(
      this.locks,
      this.operations,
      {
        kind: "authorize",
        paymentId,
        request: requestOf(command, caller),
        decide: () => {
          throw new Error(`payment ${paymentId} was imported, so there is nothing of it to send`);
        },
      },
      caller,
    );
  }
}

/** By what is the merchant's in this account: all there is, what names no other merchant, or only what names this one. */
function mayTake(
  { merchant }: SeenAuthorization,
  owned: "all" | "unnamed" | "named",
  caller: Caller,
): boolean {
  if (owned === "all" || caller.operator === true || merchant === caller.merchant) return true;
  return owned === "unnamed" && merchant === null;
}

function endOf(
  { expiresAt }: ForeignAuthorization,
  { expiresInSeconds }: ImportAuthorizationCommand,
  now: Date,
): Date {
  if (expiresInSeconds === null && expiresAt !== null) return expiresAt;
  const wanted = new Date(now.getTime() + (expiresInSeconds ?? WEEK_SECONDS) * 1_000);
  return expiresAt !== null && expiresAt < wanted ? expiresAt : wanted;
}

function requestOf(command: ImportAuthorizationCommand, { merchant }: Caller): KeyedRequest {
  const { idempotencyKey, gatewayReference, expiresInSeconds } = command;
  const asked = fingerprint([
    "import",
    merchant,
    gatewayReference,
    ...labelParts(command),
    expiresInSeconds === null ? null : BigInt(expiresInSeconds),
  ]);
  return { idempotencyKey, fingerprint: asked };
}

function alreadyImported({ gatewayReference }: ImportAuthorizationCommand): PaymentError {
  return new PaymentError("authorization_already_imported", { gatewayReference });
}
