import pino, { type Logger } from "pino";
import { loggableError } from "./loggable-error";

type Destination = ReturnType<typeof pino.destination>;

/** Structured lines on stderr: stdout belongs to results. Whatever could carry a secret is never written. */
export function makeLogger(level: string, destination = toStderr(), mixin?: () => object): Logger {
  const more = mixin === undefined ? {} : { mixin };
  return pino(
    { level, base: { pid: process.pid }, serializers: { err: loggableError }, ...more },
    destination,
  );
}

/** Asynchronous: a reader that is slow delays nothing else. */
export function toStderr(): Destination {
  return pino.destination({ fd: 2, sync: false });
}
