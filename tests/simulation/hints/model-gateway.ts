import type {
  FindAnswer,
  FindRequest,
  GatewayAnswer,
  MovementRequest,
  PaymentGateway,
  PictureAnswer,
} from "../../../src/application/ports/payment-gateway";
import type { GatewayPicture } from "../../../src/domain/payment/picture/gateway-picture";
import type { Payment } from "../../../src/domain/payment/payment";
import type { Steps } from "../interleavings";

export interface SeenMove {
  readonly reference: string;
  readonly amount: string;
  /** Null for a movement that others made. */
  readonly operationId: string | null;
}

/** The gateway's books of one payment, in texts: it captures an authorization once, and honours its keys. */
export interface Books {
  readonly authorization: string;
  captured: SeenMove | null;
  refunds: (SeenMove & { readonly failed: boolean })[];
  /** Sent, and neither landed nor lost. */
  inFlight: { readonly kind: "capture" | "refund"; readonly operationId: string; readonly amount: string }[];
}

export interface WithBooks {
  readonly books: Books;
}

export function booksOf({ facts }: Payment): Books {
  const done = facts.operations
    .filter(({ status }) => status === "succeeded")
    .map(({ kind, id, amount, gatewayReference }) => ({
      kind,
      move: { reference: gatewayReference ?? "none", amount: `${amount}`, operationId: id },
    }));
  return {
    authorization: facts.authorizationReference ?? "",
    captured: done.find(({ kind }) => kind === "capture")?.move ?? null,
    refunds: done.filter(({ kind }) => kind === "refund").map(({ move }) => ({ ...move, failed: false })),
    inFlight: [],
  };
}

/** True if anything has happened. */
export function lands(books: Books): boolean {
  const sent = books.inFlight.shift();
  if (sent === undefined) return false;
  const { kind, operationId, amount } = sent;
  const move = { reference: `${kind}_${operationId}`, amount, operationId };
  if (kind === "refund") books.refunds.push({ ...move, failed: false });
  else if (books.captured === null) books.captured = move;
  else return false;
  return true;
}

/** The gateway as one process sees it: each request is a step, and so is its answer, if there is one. */
export function gatewayOver<Shared extends WithBooks>({ take }: Pick<Steps<Shared>, "take">): PaymentGateway {
  const moving = async (kind: "capture" | "refund", request: MovementRequest): Promise<GatewayAnswer> => {
    const { operationId } = request;
    await take(`sends a ${kind}`, ({ books }) => {
      books.inFlight.push({ kind, operationId, amount: `${request.amount.amount}` });
    });
    return take("hears an answer, if there is one", ({ books }) => answerTo(books, kind, operationId));
  };
  const never = () => Promise.reject(new Error("no part of this model"));
  return {
    remembersKeysForMs: Infinity,
    authorize: never,
    void: never,
    capture: (request) => moving("capture", request),
    refund: (request) => moving("refund", request),
    find: (request) => take(`asks about a ${request.kind}`, ({ books }) => found(books, request)),
    picture: async (): Promise<PictureAnswer> => {
      // Amounts are no plain data.
      const drawn = await take("asks for the picture", ({ books }) => JSON.stringify(books));
      return { outcome: "seen", picture: pictureOf(JSON.parse(drawn) as Books) };
    },
  };
}

function answerTo(books: Books, kind: "capture" | "refund", operationId: string): GatewayAnswer {
  const unheard = { outcome: "unknown", reason: "no answer" } as const;
  if (books.inFlight.some((sent) => sent.operationId === operationId)) return unheard;
  const answer = found(books, { kind, operationId });
  return answer.outcome === "absent" || answer.outcome === "pending" ? unheard : answer;
}

function found(books: Books, { kind, operationId }: Pick<FindRequest, "kind" | "operationId">): FindAnswer {
  switch (kind) {
    case "authorize":
      return { outcome: "succeeded", reference: books.authorization };
    case "capture": {
      const { captured } = books;
      if (captured === null) return { outcome: "absent" };
      const { reference } = captured;
      return captured.operationId === operationId
        ? { outcome: "succeeded", reference }
        : { outcome: "mismatch", evidence: `${reference}: captured by others`, reference, captured: true };
    }
    case "refund": {
      const refund = books.refunds.find((one) => one.operationId === operationId);
      if (refund === undefined) return { outcome: "absent" };
      return refund.failed
        ? { outcome: "declined", reason: "returned" }
        : { outcome: "succeeded", reference: refund.reference };
    }
    case "void":
      return { outcome: "absent" };
  }
}

function pictureOf({ captured, refunds }: Books): GatewayPicture {
  return {
    authorization: captured === null ? "open" : "captured",
    authorizedUntil: null,
    captured: captured === null ? null : { ...captured, amount: BigInt(captured.amount) },
    cancellation: null,
    refunds: refunds.map(({ failed, ...move }) => ({
      ...move,
      amount: BigInt(move.amount),
      state: failed ? "failed" : "succeeded",
      reason: failed ? "returned" : null,
    })),
    disputes: [],
  };
}
