import pino, { type Logger } from "pino";
import { loggableError } from "../telemetry/loggable-error";

/** Structured lines on stderr: stdout belongs to results. Whatever could carry a secret is never written. */
export function makeLogger(level: string): Logger {
  return pino(
    { level, base: { pid: process.pid }, serializers: { err: loggableError } },
    pino.destination({ fd: 2, sync: false }),
  );
}
