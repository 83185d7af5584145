import type { ContextManager } from "@opentelemetry/api";

/**
 * Follows callers only while something sampled is going on. Node 20 follows each promise of the process by a hook from the
 * first use on, also where none belongs to a trace; switched off, that costs nothing until the next sampled request.
 */
export class SampledContexts {
  private open = 0;

  constructor(private readonly manager: Pick<ContextManager, "disable">) {}

  /** The manager is switched on by the next `with`. Returns what is to be called once, when it is over. */
  enter(): () => void {
    this.open += 1;
    return () => {
      this.open -= 1;
      if (this.open === 0) this.manager.disable();
    };
  }
}
