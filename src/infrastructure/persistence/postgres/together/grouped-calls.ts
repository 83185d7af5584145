/** One who has called, and is told what became of it. */
interface Caller<Call, Answer> {
  readonly call: Call;
  readonly resolve: (answer: Answer) => void;
  readonly reject: (error: unknown) => void;
}

export interface Grouping<Call, Answer> {
  /** So many go together at most: larger groups would leave the other cores idle while one of them is worked on. */
  readonly most: number;
  /** Two calls with the same key do not go together: one statement writes a row once. Left out: any may. */
  readonly keyOf?: (call: Call) => string;
  /** Answers in the order of the calls. What rejects here is told to all of them. */
  readonly send: (calls: readonly Call[]) => Promise<readonly Answer[]>;
}

/**
 * One statement for many: calls that come in the same round of the event loop are sent together when it ends. Who is
 * alone in a round waits for nobody. What is shared is the way to the server and its commit; how each call is kept from
 * being undone by its neighbours is up to `send`.
 */
export class GroupedCalls<Call, Answer> {
  private group = new Map<unknown, Caller<Call, Answer>>();

  constructor(private readonly grouping: Grouping<Call, Answer>) {}

  ask(call: Call): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const caller = { call, resolve, reject };
      const key = this.grouping.keyOf?.(call) ?? caller;
      if (this.group.has(key)) this.sendGroup();
      const { group } = this;
      if (group.size === 0)
        setImmediate(() => {
          if (this.group === group) this.sendGroup();
        });
      group.set(key, caller);
      if (group.size >= this.grouping.most) this.sendGroup();
    });
  }

  private sendGroup(): void {
    const callers = [...this.group.values()];
    this.group = new Map();
    if (callers.length > 0) void this.tell(callers);
  }

  private async tell(callers: readonly Caller<Call, Answer>[]): Promise<void> {
    try {
      const answers = await this.grouping.send(callers.map(({ call }) => call));
      if (answers.length !== callers.length) throw new Error("a group was answered with too few answers");
      callers.forEach(({ resolve }, i) => resolve(answers[i] as Answer));
    } catch (error) {
      for (const { reject } of callers) reject(error);
    }
  }
}
