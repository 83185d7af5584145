/** Tokens that grow with each acquisition, and go on growing after a restart as long as the clock is not set back. */
export class FencingCounter {
  private previous = 0;

  next(wallMs: number): number {
    return (this.previous = Math.max(this.previous, Math.trunc(wallMs)) + 1);
  }
}
