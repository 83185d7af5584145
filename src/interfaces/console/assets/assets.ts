import { createHash } from "node:crypto";
import { icon } from "./icon";
import { script } from "./script";
import { style } from "./style";

const named = (name: string, text: string, ending: string) =>
  `/assets/${name}-${createHash("sha256").update(text).digest("hex").slice(0, 12)}.${ending}`;

const styleFile = named("console", style, "css");
const scriptFile = named("console", script, "js");

/** A browser keeps them for as long as it likes: another text has another name. */
export const stylePath = `/console${styleFile}`;
export const scriptPath = `/console${scriptFile}`;

export const assets = [
  { path: styleFile, contentType: "text/css; charset=utf-8", text: style },
  { path: scriptFile, contentType: "text/javascript; charset=utf-8", text: script },
  { path: "/assets/icon.svg", contentType: "image/svg+xml", text: icon },
] as const;
