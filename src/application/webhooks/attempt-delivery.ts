import { nextAttemptAt } from "../../domain/webhooks/schedule";
import {
  failingAfter,
  isToBeDisabled,
  type DisabledReason,
  type WebhookEndpoint,
} from "../../domain/webhooks/webhook-endpoint";
import { SecretsKeyError } from "../ports/events/secret-box";
import type { AttemptOutcome } from "../ports/events/webhook-sender";
import type { ClaimedDelivery, Disabling, Settlement } from "../ports/events/webhook-delivery-queue";
import type { OpenedSecrets } from "./opened-secrets";
import { signedHeaders } from "./sign-webhook";
import type { WebhookContext } from "./webhook-context";

/** An attempt that was made, and what it means. */
export interface Attempted {
  readonly claimed: ClaimedDelivery;
  readonly outcome: AttemptOutcome;
  readonly settlement: Settlement;
}

/** Sends what was lent, once. Rejects where this instance has no key at all: then nothing was sent. */
export async function attemptDelivery(context: AttemptContext, claimed: ClaimedDelivery): Promise<Attempted> {
  const outcome = await outcomeOf(context, claimed);
  return { claimed, outcome, settlement: settlementOf(context, claimed, outcome, context.clock.now()) };
}

export interface AttemptContext extends WebhookContext {
  readonly opened: OpenedSecrets;
}

async function outcomeOf(context: AttemptContext, claimed: ClaimedDelivery): Promise<AttemptOutcome> {
  const { sender, wallClock, observer } = context;
  const { endpoint, eventId: id, body } = claimed;
  let secrets: readonly string[];
  try {
    secrets = secretsOf(context, endpoint);
  } catch (error) {
    if (!isOfOneSecret(error)) throw error;
    observer.failed(error);
    return unsigned(error);
  }
  const headers = signedHeaders({ id, at: wallClock.now(), body }, secrets);
  return sender.send({ url: endpoint.url, headers, body });
}

/** The new one first; the one before it as long as the rotation lasts, unless it does not open. */
function secretsOf(
  { opened, clock, observer }: AttemptContext,
  endpoint: WebhookEndpoint,
): readonly string[] {
  const { current, previous } = endpoint.secrets;
  const secret = opened.open(current, endpoint);
  if (previous === null || previous.until <= clock.now()) return [secret];
  try {
    return [secret, opened.open(previous.sealed, endpoint)];
  } catch (error) {
    if (!isOfOneSecret(error)) throw error;
    observer.failed(error);
    return [secret];
  }
}

/** Without any key nothing can be signed; with keys that do not open one secret, everything else can. */
function isOfOneSecret(error: unknown): error is SecretsKeyError {
  return error instanceof SecretsKeyError && error.code === "secrets_key_wrong";
}

function unsigned({ message: answer }: SecretsKeyError): AttemptOutcome {
  const failure = "secret_unreadable";
  return { result: "failed", status: null, failure, retryAfterMs: null, answer, tookMs: 0 };
}

function settlementOf(
  context: WebhookContext,
  claimed: ClaimedDelivery,
  outcome: AttemptOutcome,
  at: Date,
): Settlement {
  const { status, failure, answer, tookMs, retryAfterMs, result } = outcome;
  const { id: deliveryId, endpointId, line, attempts } = claimed;
  const told = { deliveryId, endpointId, line, attempt: { at, status, failure, answer, tookMs } };
  if (result === "delivered") return { ...told, next: "delivered", disable: null };
  if (result === "gone") {
    return { ...told, next: "failed", disable: disabling(context, claimed.endpoint, "gone", null, at) };
  }
  const failing = failingAfter(claimed.endpoint.failing, at);
  const next = nextAttemptAt({ attempts: attempts + 1, at, retryAfterMs }, context.random) ?? "failed";
  // An operator's mistake says nothing about the receiver.
  const isEnd = failure !== "secret_unreadable" && isToBeDisabled(failing);
  return {
    ...told,
    next,
    disable: isEnd ? disabling(context, claimed.endpoint, "failing", failing.since, at) : null,
  };
}

function disabling(
  { ids }: WebhookContext,
  endpoint: WebhookEndpoint,
  reason: DisabledReason,
  ifFailingSince: Date | null,
  at: Date,
): Disabling {
  const { id, merchant, url, description } = endpoint;
  return {
    reason,
    ifFailingSince,
    event: {
      id: ids.nextId(),
      type: "webhook_endpoint.disabled",
      at,
      merchant,
      paymentId: null,
      content: {
        webhookEndpoint: { id, url, description, disabledAt: at.toISOString(), disabledReason: reason },
      },
    },
  };
}
