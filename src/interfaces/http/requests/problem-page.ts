import type { Request, Response } from "express";
import type { ToldError } from "../problems/problem-details";

/** A problem as a page for people. */
export type ProblemPage = (error: ToldError, requestId: string) => string;

/** For whatever problem this request comes to. */
export function keepProblemPage(response: Response, page: ProblemPage | undefined): void {
  response.locals["problemPage"] = page;
}

const FORMS = ["application/problem+json", "application/json", "text/html"];

/** The page, if the route has one and the caller asks for HTML first, as browsers do. */
export function problemPageFor(request: Request, response: Response): ProblemPage | undefined {
  const page = response.locals["problemPage"] as ProblemPage | undefined;
  return page !== undefined && request.accepts(FORMS) === "text/html" ? page : undefined;
}
