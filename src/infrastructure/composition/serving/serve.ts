import type { Configuration } from "../../configuration/configuration";
import type { LeaseSettings } from "../../locking/lease/protocol/lease-settings";
import { openApplication, type Application } from "../opening/open-application";
import { openServer } from "./open-server";
import { Service } from "./service";

/** The HTTP API and its background work, until a signal ends them. Resolves when everything is closed. */
export async function serve(
  configuration: Configuration,
  version: string,
  say: (line: string) => void,
  open: () => Promise<Application> = () => openApplication(configuration, { purpose: "serve" }),
  sandboxLease?: Partial<LeaseSettings>,
): Promise<void> {
  const application = await open();
  await openServer(application, version, { sandboxLease });
  const service = application.container.get(Service);
  const ended = service.untilSignal();
  const url = await service.listen();
  service.work();
  say(`listening on ${url}`);
  for (const line of service.startingLines) say(line);
  const status = await ended;
  if (status !== 0) process.exit(status);
}
