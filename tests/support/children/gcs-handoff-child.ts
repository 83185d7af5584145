import { GcsLockProvider } from "../../../src/infrastructure/locking/lease/gcs/gcs-lock-provider";
import { gcsChildOptions } from "../servers/gcs-locks";
import { talkToParent } from "../program/talking-child";

/** Owns one resource for as long as its parent likes, and tells it when somebody else wants it. */
const { location, options } = gcsChildOptions();
const lock = new GcsLockProvider(location, options).handoffLock("sandbox:1");

const { ask } = talkToParent(
  async ({ do: what, timeout }: { do: "acquire" | "release"; timeout: number }) => {
    if (what === "acquire") return String((await lock.acquire({ timeout })).fencingToken);
    await lock.release();
    return "released";
  },
);

lock.onReleaseRequested(() => void ask({ heard: "release requested" }));
lock.onLost((reason) => void ask({ heard: "lost", reason }));
