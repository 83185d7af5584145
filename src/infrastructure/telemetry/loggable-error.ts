/** What a log may keep of an error. */
export interface LoggableError {
  readonly type: string;
  readonly message: string;
  readonly code?: string | number;
  readonly stack?: string;
  readonly cause?: LoggableError;
}

/** Causes of causes are logged this deep. */
const MAX_CAUSES = 4;

/** A password in a URL, what comes behind an authentication scheme, and keys of the kinds that we or Stripe give out. */
const SECRETS: readonly (readonly [RegExp, string])[] = [
  [/\/\/[^\s/@]*@/g, "//[removed]@"],
  [/\b(Bearer|Basic)\s+\S+/gi, "$1 [removed]"],
  [/\b(hf|sk|rk|whsec)_[\w-]{6,}/g, "$1_[removed]"],
];

/**
 * Pino's own serializer copies every member of an error, and clients hang requests with all their headers on theirs.
 * This one keeps what is named above, and takes out what looks like a secret.
 */
export function loggableError(error: unknown, depth = 0): LoggableError {
  if (!(error instanceof Error)) return { type: typeof error, message: withoutSecrets(String(error)) };
  const { name, message, stack, cause } = error;
  const { code } = error as { code?: unknown };
  return {
    type: name,
    message: withoutSecrets(message),
    ...(typeof code === "string" || typeof code === "number" ? { code } : {}),
    ...(stack === undefined ? {} : { stack: withoutSecrets(stack) }),
    ...(cause === undefined || depth === MAX_CAUSES ? {} : { cause: loggableError(cause, depth + 1) }),
  };
}

function withoutSecrets(text: string): string {
  return SECRETS.reduce((safe, [secret, instead]) => safe.replace(secret, instead), text);
}
