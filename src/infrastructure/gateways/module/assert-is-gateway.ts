import { gatewayLayerNames, gatewayLayers, type GatewayLayer } from "../contract/gateway-layers";
import { GatewayModuleError, kindOfValue } from "./gateway-module-error";
import type { OwnGateway } from "./own-gateway";

/** A hundred years: a longer time makes no date any more when it is added to one. */
const LONGEST_TIME_MS = 100 * 366 * 86_400_000;
/** Called if they are there. */
const OPTIONAL_METHODS = ["lookupAuthorization", "close"] as const;

/** Throws `GatewayModuleError`, which names everything that keeps what a module has opened from being a gateway. */
export function assertIsGateway(opened: unknown): asserts opened is OwnGateway {
  const missing = missingOfGateway(opened);
  if (missing.length > 0) throw new GatewayModuleError(missing.join("; "));
}

function missingOfGateway(opened: unknown): readonly string[] {
  if (typeof opened !== "object" || opened === null)
    return [`openGateway returned ${kindOfValue(opened)}, not a gateway`];
  const gateway = opened as Record<string, unknown>;
  const layers = Array.isArray(gateway["has"]) ? (gateway["has"] as unknown[]) : null;
  return [
    ...(layers === null
      ? [
          `"has" is ${kindOfValue(gateway["has"])}: list the layers that it keeps, of ${named(gatewayLayerNames)}`,
        ]
      : missingOfLayers(layers)),
    ...methodsOf(layers ?? gatewayLayerNames.filter((name) => gatewayLayers[name].required))
      .filter((name) => typeof gateway[name] !== "function")
      .map((name) => `the method ${name} is missing`),
    ...OPTIONAL_METHODS.filter(
      (name) => gateway[name] !== undefined && typeof gateway[name] !== "function",
    ).map((name) => `${name} is ${kindOfValue(gateway[name])}, not a method`),
    ...missingOfMemory(gateway["remembersKeysForMs"]),
    ...missingOfDecisions(gateway["decidesWithinMs"]),
  ];
}

function missingOfLayers(layers: readonly unknown[]): string[] {
  const unknown = layers.filter((layer) => !isLayer(layer));
  const lacking = gatewayLayerNames.filter((name) => gatewayLayers[name].required && !layers.includes(name));
  return [
    ...unknown.map(
      (layer) =>
        `"has" names ${typeof layer === "string" ? `"${layer}"` : kindOfValue(layer)}, and the layers are ${named(gatewayLayerNames)}`,
    ),
    ...lacking.map((name) => `"has" lacks "${name}", without which no money can be moved through it`),
  ];
}

function missingOfDecisions(decidesWithinMs: unknown): string[] {
  if (decidesWithinMs === undefined || isTime(decidesWithinMs)) return [];
  const given = typeof decidesWithinMs === "number" ? decidesWithinMs : kindOfValue(decidesWithinMs);
  return [
    `decidesWithinMs is ${given}: it has to be the whole milliseconds within which the gateway decides what it has answered ` +
      "pending about, a hundred years at most, or be left out",
  ];
}

function isTime(value: unknown): value is number {
  return typeof value === "number" && Number.isInteger(value) && value > 0 && value <= LONGEST_TIME_MS;
}

function missingOfMemory(remembersKeysForMs: unknown): string[] {
  if (isTime(remembersKeysForMs)) return [];
  const given = typeof remembersKeysForMs === "number" ? remembersKeysForMs : kindOfValue(remembersKeysForMs);
  return [
    `remembersKeysForMs is ${given}: it has to be the whole milliseconds for which the gateway remembers a key, ` +
      "a hundred years at most",
  ];
}

/** What the layers take that it says it has. */
function methodsOf(layers: readonly unknown[]): string[] {
  return layers.filter(isLayer).flatMap((layer): readonly string[] => gatewayLayers[layer].methods);
}

function isLayer(layer: unknown): layer is GatewayLayer {
  return typeof layer === "string" && Object.hasOwn(gatewayLayers, layer);
}

function named(names: readonly string[]): string {
  return names.map((name) => `"${name}"`).join(", ");
}
