/** Nothing new may begin: this process is about to end. Nothing was done, and another instance may be asked at once. */
export class ShuttingDownError extends Error {
  override readonly name = "ShuttingDownError";
  readonly code = "service_unavailable";

  constructor() {
    super("the service is shutting down");
  }
}
