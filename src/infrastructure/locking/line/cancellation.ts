interface Listening {
  readonly callbacks: Set<() => void>;
  readonly listener: () => void;
}

const listenings = new WeakMap<AbortSignal, Listening>();

/**
 * Calls back when the signal fires; returns how to stop. One listener per signal, however many wait on it: EventTarget
 * walks its list on each add and remove, which a hundred thousand waiters on one signal would pay for in squares.
 */
export function onAbort(signal: AbortSignal, callback: () => void): () => void {
  const { callbacks, listener } = listenings.get(signal) ?? listen(signal);
  callbacks.add(callback);
  return () => {
    if (!callbacks.delete(callback) || callbacks.size > 0) return;
    listenings.delete(signal);
    signal.removeEventListener("abort", listener);
  };
}

function listen(signal: AbortSignal): Listening {
  const callbacks = new Set<() => void>();
  const listener = (): void => {
    listenings.delete(signal);
    for (const callback of callbacks) callback();
    callbacks.clear();
  };
  const listening = { callbacks, listener };
  listenings.set(signal, listening);
  signal.addEventListener("abort", listener, { once: true });
  return listening;
}
