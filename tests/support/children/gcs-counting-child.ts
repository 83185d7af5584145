import { GcsLockProvider } from "../../../src/infrastructure/locking/lease/gcs/gcs-lock-provider";
import { gcsChildOptions } from "../servers/gcs-locks";
import { talkToParent } from "../program/talking-child";

/** Counts by reading and writing what the parent keeps, inside the lock; repeats what the fence refused. */
const { location, options } = gcsChildOptions();
const locks = new GcsLockProvider(location, options);

const { ask } = talkToParent(async ({ times }: { times: number }) => {
  for (let done = 0; done < times;) {
    const accepted = await locks.withLock(
      "counter",
      async (hold) => {
        const token = String(hold.fencingToken);
        const value = Number(await ask({ do: "read", token }));
        // Told, not heeded: whether the fence alone holds is what the test is about.
        return ask({ do: "write", token, value: value + 1, held: isHeld(() => hold.assertHeld()) });
      },
      { timeout: "infinite" },
    );
    if (accepted === true) done += 1;
  }
  return "counted";
});

function isHeld(assertHeld: () => void): boolean {
  try {
    assertHeld();
    return true;
  } catch {
    return false;
  }
}
