import { statSync, type Stats } from "node:fs";
import { pathToFileURL } from "node:url";
import { inTime } from "../../../application/in-time";
import { GatewayModuleError, kindOfValue } from "./gateway-module-error";
import { inPrint } from "./in-print";
import type { GatewayOptions } from "./own-gateway";

/**
 * Calls the module's `openGateway`, and waits for either as long as `startMs`. What it opens is not looked at yet. Throws
 * `GatewayModuleError`.
 */
export async function loadGatewayModule(
  file: string,
  options: GatewayOptions,
  startMs: number,
): Promise<unknown> {
  const openGateway = defaultExportOf(await imported(file, options, startMs));
  if (openGateway === undefined)
    throw new GatewayModuleError("it has no default export: export default function openGateway(options)");
  if (typeof openGateway !== "function")
    throw new GatewayModuleError(
      `its default export is ${kindOfValue(openGateway)}, not a function openGateway(options)`,
    );
  return within(startMs, "openGateway has not come to an end", async () => {
    try {
      // A copy: what the module does to it stays with the module.
      return await (openGateway as (options: GatewayOptions) => unknown)({ ...options });
    } catch (error) {
      throw new GatewayModuleError(`openGateway failed: ${inPrint(error, options)}`);
    }
  });
}

async function imported(file: string, options: GatewayOptions, startMs: number): Promise<unknown> {
  assertIsFile(file);
  return within(startMs, "it has not been loaded", async () => {
    try {
      return (await import(pathToFileURL(file).href)) as unknown;
    } catch (error) {
      throw new GatewayModuleError(`it cannot be loaded: ${inPrint(error, options)}${adviceOn(file)}`);
    }
  });
}

/** Node 20 loads no TypeScript, and newer ones not all of it. */
function adviceOn(file: string): string {
  return /\.[cm]?tsx?$/.test(file)
    ? "; it is TypeScript: compile it, and name the JavaScript that comes of it (.mjs, .cjs or .js)"
    : "";
}

/** Said in one line here: the words of a failed import name the file that imports, too. */
function assertIsFile(file: string): void {
  let found: Stats | undefined;
  try {
    found = statSync(file, { throwIfNoEntry: false });
  } catch (error) {
    throw new GatewayModuleError(`it cannot be read: ${inPrint(error, {})}`);
  }
  if (found === undefined) throw new GatewayModuleError(`there is no file ${file}`);
  if (!found.isFile()) throw new GatewayModuleError(`${file} is no file`);
}

/** Of an ES module, of `module.exports = …`, and of what a compiler has made of an ES module for `require`. */
function defaultExportOf(loaded: unknown): unknown {
  const exported = memberOf(loaded, "default");
  const isCompiled = memberOf(exported, "__esModule") === true;
  if (isCompiled) return memberOf(exported, "default");
  // A CommonJS module that exports nothing.
  const isEmpty = typeof exported === "object" && exported !== null && Object.keys(exported).length === 0;
  return isEmpty ? undefined : exported;
}

function memberOf(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>)[name] : undefined;
}

/** A module that waits for ever would leave an operator with a program that says nothing. */
async function within(limitMs: number, late: string, work: () => Promise<unknown>): Promise<unknown> {
  const tooLate = Symbol("too late");
  const outcome = await inTime(limitMs, work(), () => tooLate);
  if (outcome === tooLate) throw new GatewayModuleError(`${late} within ${limitMs / 1_000} s`);
  return outcome;
}
