/**
 * Where all processes find the number of permits of a semaphore. It is read behind a slot that was taken, and changed
 * only by a process that has every slot of the number before: so it stands still for as long as any holder is inside.
 */
export interface AgreedPermits {
  /** Null if none was ever written. Sees every change that was confirmed before. */
  read(resourceId: string): Promise<number | null>;

  /**
   * Compares and swaps; false, having changed nothing, if the number is not `from`. `isStillAlone` is true for as long as
   * the caller has the slots that allow it: no request may be sent after that. When it rejects, none may still be under
   * way that could be applied once those slots are others'.
   */
  replace(resourceId: string, from: number | null, to: number, isStillAlone: () => boolean): Promise<boolean>;
}
