import type { ConfigFile } from "./config-file";
import {
  firstSaid,
  readCandidate,
  SettingError,
  type Candidate,
  type ConfigurationSources,
  type Effective,
  type Mistake,
} from "./setting-source";

/** What a gateway module is given, by names in lower case. Only the module knows which there are, and which are secret. */
export type GatewayOptionSettings = Readonly<Record<string, Effective<string>>>;

const PREFIX = "HOLDFAST_GATEWAY_OPTION_";
/** The table of the configuration file. */
export const GATEWAY_OPTIONS = "gateway-options";

/** `HOLDFAST_GATEWAY_OPTION_BANK_URL`, then `bank_url` under `[gateway-options]`. No flags: `ps` shows flags. */
export function readGatewayOptions(
  { environment, options = {} }: ConfigurationSources,
  file: ConfigFile,
  mistakes: Mistake[],
): GatewayOptionSettings {
  const candidates = new Map<string, Candidate[]>();
  const add = (name: string, candidate: Candidate): void =>
    void candidates.set(name, [...(candidates.get(name) ?? []), candidate]);
  const own = (options["gatewayOptions"] ?? {}) as Readonly<Record<string, unknown>>;
  for (const [name, raw] of Object.entries(own))
    add(name, { kind: "option", source: `gatewayOptions.${name}`, raw });
  for (const [source, raw] of Object.entries(environment))
    if (source.startsWith(PREFIX))
      add(source.slice(PREFIX.length).toLowerCase(), { kind: "environment", source, raw });
  for (const [name, raw] of Object.entries(tableOf(file, mistakes)))
    add(name, { kind: "file", source: `[${GATEWAY_OPTIONS}] ${name} in ${file.path}`, raw });
  return Object.fromEntries(
    [...candidates].sort().flatMap(([name, said]) => {
      const first = firstSaid(said);
      const read = first && readCandidate(first, (text) => checked(name, text), mistakes);
      return read === undefined ? [] : [[name, read]];
    }),
  );
}

function tableOf({ path, content }: ConfigFile, mistakes: Mistake[]): Readonly<Record<string, unknown>> {
  const table = content[GATEWAY_OPTIONS];
  if (table === undefined) return {};
  if (typeof table === "object" && table !== null && !Array.isArray(table))
    return table as Readonly<Record<string, unknown>>;
  mistakes.push({
    kind: "file",
    source: `${GATEWAY_OPTIONS} in ${path}`,
    message: "must be a table of options",
  });
  return {};
}

function checked(name: string, text: string): string {
  if (!/^[a-z][a-z0-9_]{0,62}$/.test(name))
    throw new SettingError("must have a name of 1 to 63 of a-z, 0-9 and _, beginning with a letter");
  return text;
}
