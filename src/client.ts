/** `holdfast/client`: calls a Holdfast server, and verifies the webhooks that it sends. Loads nothing but Node. */
export {
  HoldfastClient,
  type CallOptions,
  type HoldfastClientOptions,
} from "./interfaces/client/holdfast-client";
export type { ClientPayments, MovingOperation } from "./interfaces/client/client-payments";
export type { ClientEvents, FollowOptions } from "./interfaces/client/client-events";
export type { CaptureOrder, CaptureOutcome } from "./interfaces/client/capture-many";
export type { Movement } from "./interfaces/client/movement";
export type { Patience } from "./interfaces/client/exchange";
export { MemoryKeys, type KeyPlace } from "./interfaces/client/key-place";
export { FileKeys } from "./interfaces/client/file-keys";
export {
  HoldfastAbortedError,
  HoldfastAnswerTooLargeError,
  HoldfastNotSettledError,
  HoldfastRefusal,
  HoldfastUnreachableError,
  HoldfastUsageError,
  WebhookVerificationError,
} from "./interfaces/client/client-errors";
export {
  verifyWebhook,
  type ReceivedHeaders,
  type ReceivedWebhook,
  type WebhookSecrets,
} from "./interfaces/client/verify-webhook";
export type * from "./interfaces/client/generated/schemas";
export type { Input } from "./interfaces/client/wire";
export type { Operations } from "./interfaces/client/generated/operations";
