import type { Request, Response } from "express";
import { CONSOLE_SESSION_MS } from "../../../application/use-cases/console-sessions";
import { isLoopback } from "../../http/server/listening-rule";

/** Of who is signed in. */
export const SESSION_COOKIE = "holdfast_session";
/** Of everybody: what their forms are known by before, or where nobody has to sign in. */
export const VISITOR_COOKIE = "holdfast_visitor";

const VALUE = /^[\w-]{20,128}$/;

/** Null for what was not made here. */
export function cookieOf({ headers }: Request, name: string): string | null {
  const pairs = (headers.cookie ?? "").split(";").map((pair) => pair.trim().split("=", 2));
  const value = pairs.find(([key]) => key === name)?.[1];
  return value !== undefined && VALUE.test(value) ? value : null;
}

/** No script reads it, no other site sends it, and off this machine it goes over TLS alone. An empty value takes it away. */
export function setCookie(request: Request, response: Response, name: string, value: string): void {
  const seconds = value === "" ? 0 : CONSOLE_SESSION_MS / 1_000;
  const secure = isOnLoopback(request) ? "" : "; Secure";
  response.append(
    "Set-Cookie",
    `${name}=${value}; Path=/console; Max-Age=${seconds}; HttpOnly; SameSite=Strict${secure}`,
  );
}

/** By the name that the browser used. */
export function isOnLoopback({ headers }: Request): boolean {
  const url = `http://${headers.host ?? ""}`;
  return URL.canParse(url) && isLoopback(new URL(url).hostname);
}
