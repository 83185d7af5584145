export interface QueuedEvent {
  readonly atMs: number;
  readonly order: number;
  readonly run: () => void;
  cancelled: boolean;
}

/** A binary heap by time, and by age among equals: what was planned first happens first. */
export class EventQueue {
  private readonly heap: QueuedEvent[] = [];

  push(event: QueuedEvent): void {
    const { heap } = this;
    let index = heap.push(event) - 1;
    while (index > 0) {
      const parent = (index - 1) >> 1;
      if (!this.isBefore(index, parent)) break;
      this.swap(index, parent);
      index = parent;
    }
  }

  pop(): QueuedEvent | undefined {
    const { heap } = this;
    const first = heap[0];
    const last = heap.pop();
    if (first === undefined || last === undefined || heap.length === 0) return first;
    heap[0] = last;
    for (let index = 0; ;) {
      let least = index;
      for (const child of [2 * index + 1, 2 * index + 2])
        if (child < heap.length && this.isBefore(child, least)) least = child;
      if (least === index) return first;
      this.swap(index, least);
      index = least;
    }
  }

  private isBefore(a: number, b: number): boolean {
    const [left, right] = [this.heap[a], this.heap[b]];
    if (left === undefined || right === undefined) return false;
    return left.atMs < right.atMs || (left.atMs === right.atMs && left.order < right.order);
  }

  private swap(a: number, b: number): void {
    const [left, right] = [this.heap[a], this.heap[b]];
    if (left === undefined || right === undefined) return;
    this.heap[a] = right;
    this.heap[b] = left;
  }
}
