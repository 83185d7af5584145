import { createHmac, timingSafeEqual } from "node:crypto";
import { RequestError } from "../../http/problems/request-error";

/** Known to the pages of this browser alone: it follows from a cookie that no other site can read or send. */
export function formToken(cookie: string): string {
  return createHmac("sha256", cookie).update("forms of the console").digest("base64url");
}

export function assertToken(sent: string | undefined, token: string): void {
  const [given, wanted] = [Buffer.from(sent ?? ""), Buffer.from(token)];
  if (given.length === wanted.length && timingSafeEqual(given, wanted)) return;
  throw new RequestError(
    "form_of_another_site",
    "This form was not sent from a page of yours, or you have signed in or out since it was shown. Nothing was changed: " +
      "go back, load the page again, and send it from there.",
  );
}
