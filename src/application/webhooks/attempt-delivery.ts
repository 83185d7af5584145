import { nextAttemptAt } from "../../domain/webhooks/schedule";
import {
  failingAfter,
  isToBeDisabled,
  type DisabledReason,
  type WebhookEndpoint,
} from "../../domain/webhooks/webhook-endpoint";
import { SecretsKeyError } from "../ports/events/secret-box";
import type { AttemptOutcome } from "../ports/events/webhook-sender";
import type { ClaimedDelivery, Disabling, Settlement } from "../ports/events/webhook-store";
import { signedHeaders } from "./sign-webhook";
import type { WebhookContext } from "./webhook-context";

/** What the secrets of an endpoint are sealed for: moved to another endpoint, they do not open. */
export function secretOf({ id }: Pick<WebhookEndpoint, "id">): string {
  return `webhook endpoint ${id}`;
}

/**
 * Sends what was lent, once, and writes down what became of it. Rejects if that could not be done, and where this instance
 * has no key at all, with nothing written down.
 */
export async function attemptDelivery(
  context: WebhookContext,
  claimed: ClaimedDelivery,
  owner: string,
): Promise<void> {
  const { clock, store, observer } = context;
  const { endpoint, eventId: id } = claimed;
  const outcome = await outcomeOf(context, claimed);
  const at = clock.now();
  const settlement = settlementOf(context, claimed, outcome, owner, at);
  await store.settle(settlement);
  const { next, disable } = settlement;
  observer.attempted({
    endpointId: endpoint.id,
    eventId: id,
    outcome: next instanceof Date ? "retried" : next,
    failure: outcome.failure,
    status: outcome.status,
    lagMs: Math.max(0, at.getTime() - claimed.eventAt.getTime()),
    tookMs: outcome.tookMs,
  });
  if (disable !== null) observer.disabled(endpoint.id, disable.reason);
}

async function outcomeOf(context: WebhookContext, claimed: ClaimedDelivery): Promise<AttemptOutcome> {
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
  { secrets, clock, observer }: WebhookContext,
  endpoint: WebhookEndpoint,
): readonly string[] {
  const { current, previous } = endpoint.secrets;
  const opened = secrets.open(current, secretOf(endpoint));
  if (previous === null || previous.until <= clock.now()) return [opened];
  try {
    return [opened, secrets.open(previous.sealed, secretOf(endpoint))];
  } catch (error) {
    if (!isOfOneSecret(error)) throw error;
    observer.failed(error);
    return [opened];
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
  owner: string,
  at: Date,
): Settlement {
  const { status, failure, answer, tookMs, retryAfterMs, result } = outcome;
  const { id: deliveryId, endpointId, line, attempts } = claimed;
  const told = { owner, deliveryId, endpointId, line, attempt: { at, status, failure, answer, tookMs } };
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
