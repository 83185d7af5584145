import type { LeaseSettings } from "../../locking/lease/protocol/lease-settings";
import type { Application } from "../opening/open-application";
import { openHints } from "../opening/open-hints";
import { openSandboxes } from "../opening/open-sandboxes";
import { openWebhooks } from "../opening/open-webhooks";
import { serverModule } from "../container/server-module";
import { tokens } from "../container/tokens";
import { advertisedUrl } from "./own-url";
import { refuseOpenDoor, refuseSilentLocks } from "./refusals";

export interface ServerOptions {
  readonly sandboxLease?: Partial<LeaseSettings> | undefined;
  /** Of whoever embeds this server and listens in its place. */
  readonly ownUrl?: () => string;
  /** Whether a key is needed from the beginning, and not only once there is one. */
  readonly needsKeys?: boolean;
}

/** Adds what only a server has, or closes the application and says why there cannot be one. */
export async function openServer(
  { container, close }: Application,
  version: string,
  { sandboxLease, ownUrl: givenUrl, needsKeys = false }: ServerOptions = {},
): Promise<void> {
  try {
    // Where others listen, they decide who comes in.
    if (givenUrl === undefined) await refuseOpenDoor(container);
    await refuseSilentLocks(container);
    const webhooks = await openWebhooks(container);
    container.get(tokens.closers).add(() => webhooks.close());
    const hints = openHints(container);
    container.get(tokens.closers).add(() => hints.close());
    const { settings } = container.get(tokens.configuration);
    const ownUrl = givenUrl ?? (() => advertisedUrl(settings, container.get(tokens.httpServer)));
    const sandboxes =
      settings.sandboxLimit.value > 0
        ? await openSandboxes(container, ownUrl, webhooks.forSandboxes, sandboxLease)
        : undefined;
    const isEmbedded = givenUrl !== undefined;
    container.load(
      serverModule({
        version,
        webhooks,
        hints,
        sandboxes,
        ownUrl,
        needsKeys,
        hasConsole: !isEmbedded,
        // Whoever runs a server decides who reaches it; what an application mounts is reached by its customers.
        ...(isEmbedded && { metricsAccess: "operator" }),
      }),
    );
  } catch (error) {
    await close();
    throw error;
  }
}
