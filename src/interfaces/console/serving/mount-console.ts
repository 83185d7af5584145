import express, { type Express, type Request, type RequestHandler, type Response } from "express";
import { createHash } from "node:crypto";
import {
  UnauthorizedError,
  type AuthenticatedCaller,
} from "../../../application/use-cases/authenticate-caller";
import { problemKind } from "../../http/problems/problem-table";
import { RequestError } from "../../http/problems/request-error";
import { answerText } from "../../http/requests/answer";
import { assertOfThisSite } from "../../http/server/form-of-this-site";
import { bodyBytes } from "../../http/requests/json-body";
import { keepProblemPage } from "../../http/requests/problem-page";
import { contextOf } from "../../http/requests/request-context";
import { onlyThese } from "../../http/endpoints/mount";
import { assets } from "../assets/assets";
import type { ConsoleParts } from "../console-parts";
import { hopPage, rendered } from "../html/document";
import { problemContent } from "../html/problem";
import { consoleRoutes } from "../console-routes";
import { signInPage } from "../sign-in-page";
import type { ConsoleReply, ConsoleRoute, Page, Visit } from "./console-route";
import { cookieOf, isOnLoopback, SESSION_COOKIE, setCookie, VISITOR_COOKIE } from "./cookies";
import { assertToken, formToken } from "./form-token";
import { Once } from "./once";
import { protect } from "./policy";

const FORM = "application/x-www-form-urlencoded";
const LIMIT_BYTES = 16 * 1024;
const HTML = "text/html; charset=utf-8";

/** Somebody at a browser, before it is known whether they may. */
interface Visitor {
  readonly sessionId: string | null;
  /** Null for who is not signed in and has to be. */
  readonly caller: AuthenticatedCaller | null;
  readonly token: string;
}

/** The console, below `/console`. */
export function mountConsole(app: Express, parts: ConsoleParts): void {
  const router = express.Router();
  const once = new Once();
  router.use((request, response, next) => {
    protect(response);
    keepProblemPage(response, (error, requestId) => {
      const { status, title } = problemKind(error.code);
      const content = problemContent(error, requestId);
      return rendered(
        { title, section: "none", status, content },
        visitorOf(response)?.caller ?? null,
        parts,
      );
    });
    // A link from elsewhere comes without its cookies. From this page it comes with them.
    const site = request.headers["sec-fetch-site"];
    if (request.method === "GET" && (site === "cross-site" || site === "same-site")) {
      answerText(response, 200, HTML, hopPage(request.originalUrl));
      return;
    }
    next();
  });
  for (const { path, contentType, text } of assets) {
    router
      .route(path)
      .get(asset(contentType, text))
      .all(onlyThese(["get"]));
  }
  router.use(async (request, response, next) => {
    response.locals["visitor"] = await visitor(request, response, parts);
    next();
  });
  router
    .route("/sign-in")
    .get(showSignIn(parts))
    .post(signIn(parts))
    .all(onlyThese(["get", "post"]));
  router
    .route("/sign-out")
    .post(signOut(parts))
    .all(onlyThese(["post"]));
  for (const path of new Set(consoleRoutes.map((one) => one.path))) {
    const here = consoleRoutes.filter((one) => one.path === path);
    const added = router.route(path);
    for (const one of here) added[one.method](answering(one, parts, once));
    added.all(onlyThese(here.map(({ method }) => method)));
  }
  app.use("/console", router);
}

function visitorOf(response: Response): Visitor | undefined {
  return response.locals["visitor"] as Visitor | undefined;
}

async function visitor(
  request: Request,
  response: Response,
  { sessions, newId }: ConsoleParts,
): Promise<Visitor> {
  const sessionId = cookieOf(request, SESSION_COOKIE);
  let caller: AuthenticatedCaller | null = null;
  try {
    caller = await sessions.callerOf(sessionId);
  } catch (error) {
    if (!(error instanceof UnauthorizedError)) throw error;
  }
  if (caller !== null && caller.keyId === null) assertNoRebinding(request);
  if (caller !== null) contextOf(response).caller = caller;
  if (sessionId !== null && caller !== null && caller.keyId !== null)
    return { sessionId, caller, token: formToken(sessionId) };
  let known = cookieOf(request, VISITOR_COOKIE);
  if (known === null) setCookie(request, response, VISITOR_COOKIE, (known = newId()));
  return { sessionId: null, caller, token: formToken(known) };
}

/** Where nobody signs in, only this machine may ask, and under its own name: another's could be made to lead here. */
function assertNoRebinding(request: Request): void {
  if (isOnLoopback(request)) return;
  throw new RequestError(
    "form_of_another_site",
    "Without an API key, the console is for this machine alone: open it as localhost or 127.0.0.1, or create a key.",
  );
}

function answering(route: ConsoleRoute, parts: ConsoleParts, once: Once): RequestHandler {
  return async (request, response) => {
    const known = visitorOf(response);
    if (known === undefined) throw new Error("this route is not behind the visitor");
    const form = route.method === "post" ? await sentForm(request, response, known, parts) : {};
    const { caller, token } = known;
    const id = form["once"];
    const isToBeDoneOnce = route.method === "post" && route.isKeyed !== true && id !== undefined;
    const sent = isToBeDoneOnce ? { token, id, path: request.path, fields: form } : null;
    // Its answer is shown to the browser that asked for it, also where the first key has just closed the door behind it.
    const before = sent === null ? undefined : once.before(sent);
    if (before !== undefined) return send(response, await before, caller, parts);
    if (caller === null) {
      const next = route.method === "get" ? `?next=${encodeURIComponent(request.originalUrl)}` : "";
      send(response, { to: `/console/sign-in${next}` }, null, parts);
      return;
    }
    if (route.access === "operator" && !caller.operator) {
      throw new RequestError("operator_key_required", "This page requires an operator key.");
    }
    const visit: Visit = {
      request,
      response,
      caller,
      whose: caller.operator ? null : caller.merchant,
      token,
      ids: strings(request.params),
      query: strings(request.query),
      form,
      now: parts.clock.now(),
    };
    const work = async () => route.handle(visit, parts);
    const reply = await (sent === null ? work() : once.do(sent, work));
    send(response, reply, caller, parts);
  };
}

/** Of this site, with the token of this browser. */
async function sentForm(
  request: Request,
  response: Response,
  { token }: Visitor,
  { ownUrl, lifecycle }: ConsoleParts,
): Promise<Readonly<Record<string, string>>> {
  assertOfThisSite(request, ownUrl());
  if (!request.is(FORM)) throw new RequestError("unsupported_media_type", `Send the form as ${FORM}.`);
  const text = (await bodyBytes(request, response, LIMIT_BYTES)).toString("utf8");
  const form = Object.fromEntries(new URLSearchParams(text));
  assertToken(form["token"], token);
  lifecycle.assertServing();
  return form;
}

function showSignIn(parts: ConsoleParts): RequestHandler {
  return (request, response) => {
    const known = visitorOf(response);
    const next = nextOf(strings(request.query)["next"]);
    if (known !== undefined && known.caller !== null)
      return send(response, { to: next }, known.caller, parts);
    const page = signInPage({ token: known?.token ?? "", next, isRefused: false, warns: !isSafe(request) });
    send(response, page, null, parts);
  };
}

function signIn(parts: ConsoleParts): RequestHandler {
  return async (request, response) => {
    const known = visitorOf(response) as Visitor;
    const form = await sentForm(request, response, known, parts);
    const next = nextOf(form["next"]);
    try {
      const id = await parts.sessions.signIn((form["key"] ?? "").trim());
      if (id !== null) setCookie(request, response, SESSION_COOKIE, id);
      send(response, { to: next }, null, parts);
    } catch (error) {
      if (!(error instanceof UnauthorizedError)) throw error;
      contextOf(response).problem = error.code;
      const page = signInPage({ token: known.token, next, isRefused: true, warns: !isSafe(request) });
      send(response, page, null, parts);
    }
  };
}

function signOut(parts: ConsoleParts): RequestHandler {
  return async (request, response) => {
    const known = visitorOf(response) as Visitor;
    await sentForm(request, response, known, parts);
    if (known.sessionId !== null) await parts.sessions.signOut(known.sessionId);
    setCookie(request, response, SESSION_COOKIE, "");
    send(response, { to: "/console/sign-in" }, null, parts);
  };
}

/** A cookie that goes over TLS alone would not come back. */
function isSafe(request: Request): boolean {
  return isOnLoopback(request) || request.headers["x-forwarded-proto"] !== undefined;
}

/** Only back into the console: as a browser would follow it, which takes two dots for a way up, however they are written. */
function nextOf(wanted: string | undefined): string {
  const home = "/console";
  if (wanted === undefined || !/^\/console(?:[/?][\w\-./?=&%:+~]*)?$/.test(wanted)) return home;
  const { pathname, search } = new URL(wanted, "http://localhost");
  return pathname === home || pathname.startsWith(`${home}/`) ? pathname + search : home;
}

function send(
  response: Response,
  reply: ConsoleReply,
  caller: AuthenticatedCaller | null,
  parts: ConsoleParts,
): void {
  if ("to" in reply) {
    response.setHeader("Location", reply.to);
    answerText(response, 303, "text/plain; charset=utf-8", "");
    return;
  }
  const page: Page = reply;
  answerText(response, page.status ?? 200, HTML, rendered(page, caller, parts, visitorOf(response)?.token));
}

function asset(contentType: string, text: string): RequestHandler {
  const etag = `"${createHash("sha256").update(text).digest("base64url")}"`;
  return (request, response) => {
    // Its name changes with it.
    response.setHeader("Cache-Control", "public, max-age=31536000, immutable");
    response.setHeader("ETag", etag);
    if (request.headers["if-none-match"] === etag) {
      response.statusCode = 304;
      response.end();
      return;
    }
    answerText(response, 200, contentType, text);
  };
}

/** What came more than once, or as a list, is not what any page asks for. */
function strings(record: Readonly<Record<string, unknown>>): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(record).filter((entry): entry is [string, string] => typeof entry[1] === "string"),
  );
}
