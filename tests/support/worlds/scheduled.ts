import type fc from "fast-check";

/** The same object, but the scheduler decides when each of its methods is carried out and when its answer arrives. */
export function scheduled<T extends object>(scheduler: fc.Scheduler, target: T): T {
  return new Proxy(target, {
    get(object, name) {
      const member: unknown = Reflect.get(object, name, object);
      if (typeof member !== "function") return member;
      return async (...args: unknown[]) => {
        await scheduler.schedule(Promise.resolve(), `${String(name)} begins`);
        const result: unknown = await Reflect.apply(member, object, args);
        await scheduler.schedule(Promise.resolve(), `${String(name)} answers`);
        return result;
      };
    },
  });
}
