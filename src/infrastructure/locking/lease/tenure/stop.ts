/**
 * Somebody no longer wants what is under way. What an `AbortSignal` is to others: each tenure needs two, and the making
 * and firing of those took longer than a request to Redis.
 */
export class Stop {
  isCalled = false;
  private listener: (() => void) | undefined;

  call(): void {
    this.isCalled = true;
    this.listener?.();
    this.listener = undefined;
  }

  /** One listens at a time; returns how to stop listening. */
  onCalled(listener: () => void): () => void {
    this.listener = listener;
    return () => {
      if (this.listener === listener) this.listener = undefined;
    };
  }
}
