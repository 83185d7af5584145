import type { Request } from "express";
import { RequestError } from "../problems/request-error";

const FROM_ITS_OWN_PAGE =
  "This form is accepted from its own page only. If it came from there, a proxy has replaced the Host header: let it pass the " +
  "header on, or start the server with --advertise and the URL that browsers use.";

/**
 * Browsers say from where a form comes. What says nothing is no browser, and does nothing by somebody else's will. A proxy may
 * send a Host of its own; then the page came from where this server is told to be reached.
 */
export function assertOfThisSite({ headers }: Request, ownUrl: string): void {
  const { origin, host } = headers;
  const site = headers["sec-fetch-site"];
  const isOfThisPage =
    origin === undefined ||
    origin === new URL(ownUrl).origin ||
    (URL.canParse(origin) && new URL(origin).host === host);
  if (isOfThisPage && (site === undefined || site === "same-origin")) return;
  throw new RequestError("form_of_another_site", FROM_ITS_OWN_PAGE);
}
