// The program's whole HTTP interface, with its log, metrics, validation and keys, before a capture that is done already.
import { openSync } from "node:fs";
import { devNull } from "node:os";
import pino from "pino";
import { Registry } from "prom-client";
import { builtInLockTimeouts } from "../../src/application/ports/lock-timeout";
import { AuthenticateCaller } from "../../src/application/use-cases/authenticate-caller";
import { parseMerchantId } from "../../src/domain/identifiers";
import { createHttpApp, type HttpAppParts } from "../../src/interfaces/http/http-app";
import { createHttpServer } from "../../src/interfaces/http/server/http-server";
import { Lifecycle } from "../../src/interfaces/http/server/lifecycle";
import { capturedOnce } from "../store/captured-once";
import { answerParent } from "./answer-parent";

async function main(): Promise<void> {
  const outcome = await capturedOnce();
  const key = { id: "bench", merchant: parseMerchantId("default"), operator: false };
  const keys = { findBySecretHash: async () => key, anyEverCreated: async () => true };
  const parts = {
    capturePayment: { execute: async () => outcome },
    authenticate: new AuthenticateCaller(keys as never),
    lockTimeouts: builtInLockTimeouts,
    readiness: {},
    lifecycle: new Lifecycle(),
    logger: pino({ level: "info" }, pino.destination({ fd: openSync(devNull, "w"), sync: false })),
    version: "bench",
    metrics: new Registry(),
  };
  // The routes of the other use cases are there, and nobody calls them.
  answerParent(createHttpServer(createHttpApp(parts as unknown as HttpAppParts)));
}

void main();
