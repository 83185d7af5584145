import { parseOperationId, parsePaymentId, type IdempotencyKey } from "../../domain/identifiers";
import { Payment } from "../../domain/payment";
import { PaymentError } from "../../domain/payment-errors";
import { lookUp } from "../operations/ask-gateway";
import { fingerprint, sortedEntries } from "../operations/fingerprint";
import { isInDoubt, lookAgain } from "../operations/in-doubt";
import { stepAt, type OperationContext } from "../operations/operation-context";
import { outcomeOf, type OperationOutcome } from "../operations/operation-outcome";
import { throughGateway, type Caller } from "../operations/through-gateway";
import type {
  AuthorizationLookup,
  ForeignAuthorization,
  SeenAuthorization,
} from "../ports/authorization-lookup";
import { DuplicateAuthorizationError, DuplicateKeyError } from "../ports/payment-repository";

export interface ImportAuthorizationCommand {
  readonly idempotencyKey: IdempotencyKey;
  readonly gatewayReference: string;
  readonly reference: string | null;
  readonly metadata: Readonly<Record<string, string>>;
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
    private readonly context: OperationContext,
    private readonly authorizations: AuthorizationLookup,
    private readonly account: GatewayAccount,
  ) {}

  async execute(command: ImportAuthorizationCommand, caller: Caller): Promise<OperationOutcome> {
    const replay = await this.again(command, caller);
    if (replay !== null) return replay;
    const found = await this.lookedUp(command.gatewayReference, caller);
    try {
      return await this.first(found, command, caller);
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

  private async lookedUp(gatewayReference: string, caller: Caller): Promise<ForeignAuthorization> {
    const answer = await lookUp(this.authorizations, gatewayReference);
    if (answer.outcome === "unknown")
      throw new PaymentError("gateway_unavailable", { reason: answer.reason });
    // Before anything that depends on the authorization's state, or its code would tell a stranger about it.
    if (answer.outcome === "not_found" || !this.mayTake(answer, caller)) {
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

  private mayTake({ merchant }: SeenAuthorization, caller: Caller): boolean {
    return this.account !== "shared" || caller.operator === true || merchant === caller.merchant;
  }

  private async first(
    found: ForeignAuthorization,
    command: ImportAuthorizationCommand,
    caller: Caller,
  ): Promise<OperationOutcome> {
    const { context } = this;
    // One that this service made belongs to the payment it was made for, even if that one has not heard of it yet.
    if (found.paymentId !== null) throw alreadyImported(command);
    const now = context.clock.now();
    const expiresAt = endOf(found, command, now);
    if (expiresAt <= now) {
      const { gatewayReference } = command;
      throw new PaymentError("authorization_not_capturable", { gatewayReference, reason: "expired" });
    }
    const begin = {
      operationId: parseOperationId(context.ids.nextId()),
      idempotencyKey: command.idempotencyKey,
      fingerprint: fingerprintOf(command, caller),
    };
    const payment = Payment.importAuthorization(
      {
        id: parsePaymentId(context.ids.nextId()),
        merchant: caller.merchant,
        amount: found.amount,
        paymentMethod: "",
        reference: command.reference,
        metadata: command.metadata,
        expiresAt,
      },
      found.reference,
      begin,
      stepAt(context, now, {
        by: caller.actor,
        gateway: { asked: "lookup", answer: "found", reference: found.reference },
      }),
    );
    const stored = await context.payments.save(payment, "new");
    return outcomeOf(stored.payment, begin.operationId, false);
  }

  /** What this key has made before; null if it is new. */
  private async again(command: ImportAuthorizationCommand, caller: Caller): Promise<OperationOutcome | null> {
    const { idempotencyKey } = command;
    const paymentId = await this.context.payments.findByAuthorizeKey(caller.merchant, idempotencyKey);
    if (paymentId === null) return null;
    return throughGateway(
      this.context,
      {
        kind: "authorize",
        paymentId,
        idempotencyKey,
        fingerprint: fingerprintOf(command, caller),
        decide: () => {
          throw new Error(`payment ${paymentId} was imported, so there is nothing of it to send`);
        },
      },
      caller,
    );
  }
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

function fingerprintOf(command: ImportAuthorizationCommand, { merchant }: Caller): string {
  const { gatewayReference, reference, metadata, expiresInSeconds } = command;
  return fingerprint([
    "import",
    merchant,
    gatewayReference,
    reference,
    sortedEntries(metadata),
    expiresInSeconds === null ? null : BigInt(expiresInSeconds),
  ]);
}

function alreadyImported({ gatewayReference }: ImportAuthorizationCommand): PaymentError {
  return new PaymentError("authorization_already_imported", { gatewayReference });
}
