/**
 * The end of a closed client's patience with its store: whatever is still under way then ends at once. As `Stop`, for
 * any number of listeners.
 */
export class Ending {
  isCalled = false;
  private readonly listeners = new Set<() => void>();

  call(): void {
    if (this.isCalled) return;
    this.isCalled = true;
    for (const listener of [...this.listeners]) listener();
    this.listeners.clear();
  }

  /** Returns how to stop listening. */
  onCalled(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => void this.listeners.delete(listener);
  }
}
