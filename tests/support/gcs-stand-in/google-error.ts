/** An answer that is not a success, worded as the JSON API words it. */
export class GoogleError extends Error {
  constructor(
    readonly status: number,
    readonly reason: string,
    message: string,
    readonly facts: { readonly domain?: string; readonly location?: string } = {},
  ) {
    super(message);
  }

  toJson(): string {
    const { domain = "global", location } = this.facts;
    const detail = {
      message: this.message,
      domain,
      reason: this.reason,
      ...(location === undefined ? {} : { locationType: "header", location }),
    };
    return JSON.stringify({ error: { code: this.status, message: this.message, errors: [detail] } });
  }
}

export const noSuchObject = (bucket: string, name: string) =>
  new GoogleError(404, "notFound", `No such object: ${bucket}/${name}`);

export const noSuchBucket = () => new GoogleError(404, "notFound", "The specified bucket does not exist.");

export const conditionNotMet = () =>
  new GoogleError(412, "conditionNotMet", "At least one of the pre-conditions you specified did not hold.", {
    location: "If-Match",
  });

/** A read whose `…NotMatch` condition found nothing new. The answer has no body. */
export const notModified = () => new GoogleError(304, "notModified", "Not Modified");

export const tooManyMutations = (bucket: string, name: string) =>
  new GoogleError(
    429,
    "rateLimitExceeded",
    `The object ${bucket}/${name} exceeded the rate limit for object mutation operations (create, update, and delete). Please reduce your request rate. See https://cloud.google.com/storage/docs/gcs429.`,
    { domain: "usageLimits" },
  );

export const invalid = (message: string) => new GoogleError(400, "invalid", message);

const WORDING: Record<number, readonly [reason: string, message: string]> = {
  401: [
    "required",
    "Anonymous caller does not have storage.objects.get access to the Google Cloud Storage object.",
  ],
  403: [
    "forbidden",
    "The caller does not have storage.objects.get access to the Google Cloud Storage object.",
  ],
  408: ["requestTimeout", "The client timed out while sending the request."],
  429: ["rateLimitExceeded", "The rate of requests is too high. Please reduce your request rate."],
  500: ["backendError", "We encountered an internal error. Please try again."],
  502: ["badGateway", "Bad Gateway"],
  503: ["backendError", "We encountered an internal error. Please try again."],
  504: ["gatewayTimeout", "Gateway Timeout"],
};

/** What a fault of this status says. */
export function errorOfStatus(status: number): GoogleError {
  const [reason, message] = WORDING[status] ?? ["backendError", "Backend Error"];
  return new GoogleError(status, reason, message);
}
