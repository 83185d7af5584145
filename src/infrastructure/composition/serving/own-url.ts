import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { hostname } from "node:os";
import type { EffectiveSettings } from "../../configuration/configuration";

/** Where it listens, by now. */
export function listeningUrl(host: string, server: Server): string {
  const { port } = server.address() as AddressInfo;
  return `http://${host.includes(":") ? `[${host}]` : host}:${port}`;
}

/** Where others reach this instance: as configured, else where it listens, by a name that is valid on other hosts. */
export function advertisedUrl({ host, advertise }: EffectiveSettings, server: Server): string {
  const isWildcard = host.value === "0.0.0.0" || host.value === "::";
  return advertise.value ?? listeningUrl(isWildcard ? hostname() : host.value, server);
}
