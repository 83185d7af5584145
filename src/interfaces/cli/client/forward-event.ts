import { signedHeaders } from "../../../application/webhooks/sign-webhook";
import { pause, type WirePublicEvent } from "./follow-events";

/** A receiver that is being restarted is back by then. After that the next event is more useful. */
const ATTEMPTS = 3;
const BETWEEN_MS = 1_000;
const ANSWER_WITHIN_MS = 15_000;

/** Sends one event as a webhook would be sent. Resolves with what came back, in words. */
export async function forwardEvent(
  url: string,
  secret: string,
  event: WirePublicEvent,
  signal: AbortSignal,
): Promise<{ readonly isAccepted: boolean; readonly said: string }> {
  const body = JSON.stringify(event);
  let said = "";
  for (let attempt = 1; attempt <= ATTEMPTS && !signal.aborted; attempt += 1) {
    if (attempt > 1) await pause(BETWEEN_MS, signal);
    const headers = signedHeaders({ id: event.id, at: new Date(), body }, [secret]);
    try {
      const { ok, status } = await fetch(url, {
        method: "POST",
        headers: { "Content-Type": "application/json", ...headers },
        body,
        // A webhook is not sent elsewhere either.
        redirect: "manual",
        signal: AbortSignal.timeout(ANSWER_WITHIN_MS),
      });
      said = String(status);
      if (ok) return { isAccepted: true, said };
    } catch (error) {
      const { message, cause } = error as { message?: string; cause?: { code?: string } };
      said = cause?.code ?? message ?? String(error);
    }
  }
  return { isAccepted: false, said };
}
