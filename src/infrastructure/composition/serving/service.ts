import type { Server } from "node:http";
import type { Logger } from "pino";
import type { BackgroundWork } from "../../../application/background/background-work";
import type { StoreUnavailableError } from "../../../application/ports/payment-repository";
import { GracefulShutdown, type EndingSignal } from "../../../interfaces/http/server/graceful-shutdown";
import type { Lifecycle } from "../../../interfaces/http/server/lifecycle";
import type { Configuration } from "../../configuration/configuration";
import type { Closers } from "../opening/closers";
import type { OpenHints } from "../opening/open-hints";
import type { OpenSandboxes } from "../opening/open-sandboxes";
import type { OpenWebhooks } from "../opening/open-webhooks";
import { listeningUrl } from "./own-url";

const SIGNALS: readonly EndingSignal[] = ["SIGINT", "SIGTERM"];

export interface ServiceParts {
  readonly configuration: Configuration;
  readonly server: Server;
  readonly lifecycle: Lifecycle;
  readonly background: BackgroundWork;
  readonly webhooks: OpenWebhooks;
  readonly hints: OpenHints;
  /** Undefined where this instance has none. */
  readonly sandboxes: OpenSandboxes | undefined;
  /** Of everything that was opened before the server. */
  readonly closers: Closers;
  /** Why nothing may be moved, if that is so. */
  readonly refusalToMove: StoreUnavailableError | null;
  readonly logger: Logger;
  /** What an operator is to know when it has started. */
  readonly startingLines: readonly string[];
}

/** The HTTP API and its background work, from the first connection until a signal ends both. */
export class Service {
  readonly startingLines: readonly string[];

  constructor(private readonly parts: ServiceParts) {
    this.startingLines = parts.startingLines;
  }

  /** Resolves with an exit status when a signal has come and everything is closed. */
  untilSignal(): Promise<number> {
    const { configuration, server, lifecycle, background, sandboxes, closers, logger } = this.parts;
    lifecycle.onDrain(() => void background.stop());
    return new Promise<number>((resolve) => {
      const shutdown = new GracefulShutdown({
        server,
        lifecycle,
        logger,
        announceMs: configuration.settings.shutdownDelay.value * 1_000,
        closers: [
          { name: "background work", close: () => background.stop() },
          { name: "sandboxes", close: () => sandboxes?.close() },
          { name: "application", close: () => closers.close() },
        ],
        exit: resolve,
      });
      for (const signal of SIGNALS) process.on(signal, () => void shutdown.onSignal(signal));
    });
  }

  /** Resolves with the URL. Closes everything if the port cannot be had. */
  async listen(): Promise<string> {
    const { configuration, server, sandboxes, closers } = this.parts;
    const { host, port } = configuration.settings;
    try {
      await listening(server, host.value, port.value);
    } catch (error) {
      await sandboxes?.close();
      await closers.close();
      throw cannotListen(error, `${host.value}:${port.value}`);
    }
    return listeningUrl(host.value, server);
  }

  /** Ends what is done without a request, and lets go of everything. Nothing new may begin any more. */
  async end(): Promise<void> {
    const { background, sandboxes, closers, server } = this.parts;
    // It has a timer even where others listen in its place.
    server.close();
    await background.stop();
    await sandboxes?.close();
    await closers.close();
  }

  /** What is done without a request: finishes what is due, delivers webhooks, follows hints, and tends the sandboxes. */
  work(): void {
    const { configuration, background, webhooks, hints, sandboxes, refusalToMove } = this.parts;
    if (configuration.settings.passInterval.value > 0 && refusalToMove === null) background.start();
    if (refusalToMove === null) webhooks.start();
    if (refusalToMove === null) hints.start();
    sandboxes?.tend();
  }
}

function listening(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, () => {
      server.off("error", reject);
      resolve();
    });
  });
}

function cannotListen(error: unknown, where: string): Error {
  const { code } = error as NodeJS.ErrnoException;
  const why = code === "EADDRINUSE" ? "the port is in use" : (code ?? String(error));
  const message = `cannot listen on ${where}: ${why}; choose another with --port`;
  return Object.assign(new Error(message, { cause: error }), { code: "service_unavailable" });
}
