/** The end of a tenure before its owner wanted it, with the reason. The first reason counts. */
export class Loss {
  private declared: string | null = null;
  /** Made when its signal is asked for: few do, and it costs as much as the rest of a tenure. */
  private controller: AbortController | undefined;

  /** Null as long as nothing is lost. */
  get reason(): string | null {
    return this.declared;
  }

  get signal(): AbortSignal {
    if (this.controller === undefined) {
      this.controller = new AbortController();
      if (this.declared !== null) this.controller.abort(this.declared);
    }
    return this.controller.signal;
  }

  declare(reason: string): void {
    if (this.declared !== null) return;
    this.declared = reason;
    this.controller?.abort(reason);
  }
}
