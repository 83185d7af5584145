import type { RequestHandler, Router } from "express";
import { RequestError } from "./problems/request-error";

type Method = "get" | "post" | "delete";
type Handlers = Partial<Record<Method, readonly RequestHandler[] | RequestHandler>>;

/** Adds a path with its methods; every other method is answered with 405 and the list of these. */
export function route(router: Router, path: string, handlers: Handlers): void {
  const added = router.route(path);
  for (const [method, handler] of Object.entries(handlers)) {
    added[method as Method](...[handler].flat());
  }
  const allow = Object.keys(handlers).flatMap((method) =>
    method === "get" ? ["GET", "HEAD"] : [method.toUpperCase()],
  );
  added.all(() => {
    throw new RequestError("method_not_allowed", `This route knows ${allow.join(", ")}.`, { allow });
  });
}
