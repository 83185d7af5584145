import express from "express";
import type { ConsoleParts } from "../../../src/interfaces/console/console-parts";
import { mountConsole } from "../../../src/interfaces/console/serving/mount-console";

interface Layer {
  readonly route?: {
    readonly path: string;
    readonly stack: readonly { readonly method?: string }[];
  };
  readonly handle?: { readonly stack?: readonly Layer[] };
}

/** The path of everything on the console that takes a form, as Express has it: also of what is in no list of ours. */
export function allForms(): readonly string[] {
  const app = express();
  // Nothing is called here: what the routes are made of is needed by requests alone.
  mountConsole(app, {} as ConsoleParts);
  const layers = (app as unknown as { router: { stack: readonly Layer[] } }).router.stack;
  return layers.flatMap(formsOf);
}

function formsOf({ route, handle }: Layer): readonly string[] {
  if (route === undefined) return (handle?.stack ?? []).flatMap(formsOf);
  return route.stack.some(({ method }) => method === "post") ? [route.path] : [];
}
