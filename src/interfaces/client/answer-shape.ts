import type { Operations } from "./generated/operations";
import type { Problem } from "./generated/schemas";

type Members = Readonly<Record<string, unknown>>;

/** Whether that is what a Holdfast server answers the operation with: pages of networks and proxies answer with 200, too. */
export function isAnswerTo(
  operation: keyof Operations,
  path: Readonly<Record<string, string>>,
  sent: unknown,
  body: unknown,
): boolean {
  if (!isObject(body)) return false;
  const { paymentId } = path;
  switch (operation) {
    case "authorizePayment":
    case "showPayment":
      return isPayment(body["payment"], paymentId);
    case "capturePayment":
      return isMovement(body, "capture", paymentId);
    case "voidPayment":
      return isMovement(body, "void", paymentId);
    case "refundPayment":
      return isMovement(body, "refund", paymentId);
    case "capturePayments":
      return areResults(body["results"], sent as Operations["capturePayments"]["body"]);
    case "listEvents":
      return isList(body["data"]) && isId(body["nextCursor"]);
    case "listPayments":
    case "listPaymentEvents":
      return isList(body["data"]) && (body["nextCursor"] === null || isId(body["nextCursor"]));
    default:
      return !operation.startsWith("list") || operation === "listGatewayMoves" || isList(body["data"]);
  }
}

export function isProblem(value: unknown): value is Problem {
  if (!isObject(value)) return false;
  const { status, code, detail, retryable } = value as Partial<Record<keyof Problem, unknown>>;
  return (
    typeof status === "number" &&
    typeof code === "string" &&
    typeof detail === "string" &&
    typeof retryable === "boolean"
  );
}

function areResults(results: unknown, { captures }: Operations["capturePayments"]["body"]): boolean {
  return (
    isList(results) &&
    results.length === captures.length &&
    captures.every(({ paymentId }, n) => {
      const { status, headers, body } = results[n] ?? {};
      if (typeof status !== "number" || !isObject(headers) || !isObject(body)) return false;
      return status >= 400 ? isProblem(body) : isMovement(body, "capture", paymentId);
    })
  );
}

function isMovement(body: Members, kind: string, paymentId: string | undefined): boolean {
  const operation = body[kind];
  return isObject(operation) && isId(operation["id"]) && isPayment(body["payment"], paymentId);
}

function isPayment(value: unknown, asked: string | undefined): boolean {
  if (!isObject(value) || !isId(value["id"])) return false;
  return asked === undefined || value["id"].toLowerCase() === asked.toLowerCase();
}

function isId(value: unknown): value is string {
  return typeof value === "string" && value !== "";
}

function isList(value: unknown): value is readonly Members[] {
  return Array.isArray(value) && value.every(isObject);
}

function isObject(value: unknown): value is Members {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
