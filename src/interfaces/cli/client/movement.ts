import { randomUUID } from "node:crypto";
import type { CommandContext } from "../cli";
import { ServerClient, type ServerAnswer } from "./server-client";
import { isWorthRepeating, OutcomeUnknownError } from "./server-errors";

/** One movement of money as a command: what is sent, and what is said about the answer. */
export interface MovementCommand {
  readonly path: string;
  readonly body: object;
  /** Given by a person who repeats a command; made otherwise. */
  readonly idempotencyKey: string | undefined;
  readonly inWords: (body: ServerAnswer["body"]) => string;
}

/**
 * Sends it under a key that is printed before anything is sent, so that whatever happens to this process, the command
 * can be repeated without moving the money again.
 */
export async function move(context: CommandContext, command: MovementCommand): Promise<void> {
  const output = context.output();
  const client = new ServerClient(context.configured().server());
  const key = command.idempotencyKey ?? `cli-${randomUUID()}`;
  const again = `repeat the command with --idempotency-key ${key}: the money still moves only once`;
  const words = `idempotency key ${key}`;
  // A key that the caller does not know is printed with --quiet, too: without it, a repetition would be another movement.
  if (command.idempotencyKey === undefined) output.warn(words, { idempotencyKey: key });
  else output.note(words, { idempotencyKey: key });
  let answer: ServerAnswer;
  try {
    answer = await client.post(command.path, command.body, key);
  } catch (error) {
    if (isWorthRepeating(error)) output.warn(again, { idempotencyKey: key });
    throw error;
  }
  const { status, replayed, body } = answer;
  const note = replayed ? " (stored answer: nothing was done now)" : "";
  output.result({ idempotencyKey: key, replayed, ...body }, command.inWords(body) + note);
  if (status === 202) {
    const what = isPending(body)
      ? "the gateway has taken the order and decides later"
      : "the gateway has not confirmed the outcome yet";
    throw new OutcomeUnknownError(`${what}; ${again}`);
  }
}

/** The movement stands beside the payment, under its own name. */
function isPending(body: ServerAnswer["body"]): boolean {
  return Object.values(body).some((part) => (part as { status?: unknown } | null)?.status === "pending");
}
