import { randomUUID } from "node:crypto";
import type { AuthorizationLookup } from "../../../src/application/ports/authorization-lookup";
import type {
  AuthorizeRequest,
  FindAnswer,
  FindRequest,
  GatewayAnswer,
  MovementRequest,
  PaymentGateway,
  PictureAnswer,
  PictureRequest,
} from "../../../src/application/ports/payment-gateway";
import { money } from "../../../src/domain/money";
import type { OperationKind } from "../../../src/domain/payment/operation";
import type { GatewayPicture } from "../../../src/domain/payment/picture/gateway-picture";

type Good = PaymentGateway & AuthorizationLookup;
type Sent = MovementRequest | AuthorizeRequest;
type SendIt = (kind: OperationKind, request: Sent, good: Good) => Promise<GatewayAnswer>;

const sendIt: SendIt = (kind, request, good) =>
  kind === "authorize" ? good.authorize(request as AuthorizeRequest) : good[kind](request as MovementRequest);

/** The good gateway with some of it replaced; the rest keeps working. */
function withReplaced(good: Good, replaced: Partial<Good>): Good {
  return {
    remembersKeysForMs: good.remembersKeysForMs,
    decidesWithinMs: good.decidesWithinMs,
    authorize: (request) => good.authorize(request),
    capture: (request) => good.capture(request),
    void: (request) => good.void(request),
    refund: (request) => good.refund(request),
    find: (request) => good.find(request),
    lookupAuthorization: (request) => good.lookupAuthorization(request),
    picture: (request) => pictureOf(good, request),
    ...replaced,
  };
}

async function pictureOf(good: Good, request: PictureRequest): Promise<PictureAnswer> {
  if (good.picture === undefined) throw new Error("the good gateway shows its picture");
  return good.picture(request);
}

/** Each movement goes another way. */
const sending =
  (change: SendIt) =>
  (good: Good): Good =>
    withReplaced(good, {
      authorize: (request) => change("authorize", request, good),
      capture: (request) => change("capture", request, good),
      void: (request) => change("void", request, good),
      refund: (request) => change("refund", request, good),
    });

const answering = (change: (answer: GatewayAnswer) => GatewayAnswer) =>
  sending(async (kind, request, good) => change(await sendIt(kind, request, good)));

const finding =
  (change: (request: FindRequest, good: Good) => Promise<FindAnswer>) =>
  (good: Good): Good =>
    withReplaced(good, { find: (request) => change(request, good) });

const found = (change: (answer: FindAnswer) => FindAnswer) =>
  finding(async (request, good) => change(await good.find(request)));

const drawing = (change: (picture: GatewayPicture) => Partial<GatewayPicture>) => (good: Good) =>
  withReplaced(good, {
    picture: async (request) => {
      const answer = await pictureOf(good, request);
      if (answer.outcome !== "seen") return answer;
      return { outcome: "seen", picture: { ...answer.picture, ...change(answer.picture) } };
    },
  });

const onKind = (only: OperationKind, change: SendIt) =>
  sending((kind, request, good) => (kind === only ? change : sendIt)(kind, request, good));

/** Each names what is wrong with it. */
export const brokenGateways = {
  movesAnewForEachSend: sending((kind, request, good) =>
    sendIt(kind, { ...request, gatewayKey: randomUUID() }, good),
  ),
  movesTwiceForOneSend: sending(async (kind, request, good) => {
    await sendIt(kind, { ...request, gatewayKey: randomUUID() }, good);
    return sendIt(kind, request, good);
  }),
  movesAnewWhenTwoCome: (good: Good) => {
    const underWay = new Set<string>();
    return sending(async (kind, request) => {
      const { gatewayKey } = request;
      if (underWay.has(gatewayKey)) return sendIt(kind, { ...request, gatewayKey: randomUUID() }, good);
      underWay.add(gatewayKey);
      // As one that looks whether it knows the key, and writes it down only afterwards.
      await new Promise((resolve) => setImmediate(resolve));
      return sendIt(kind, request, good).finally(() => underWay.delete(gatewayKey));
    })(good);
  },
  answersDifferentlyTheNextTime: answering((answer) =>
    answer.outcome === "succeeded" ? { ...answer, reference: randomUUID() } : answer,
  ),
  hasNoReference: answering((answer) =>
    answer.outcome === "succeeded" ? { ...answer, reference: "" } : answer,
  ),
  takesAnotherAmountForTheSame: (good: Good) => {
    const first = new Map<string, GatewayAnswer>();
    return sending(async (kind, request) => {
      const before = first.get(request.gatewayKey);
      if (before?.outcome === "succeeded") return before;
      const answer = await sendIt(kind, request, good);
      first.set(request.gatewayKey, answer);
      return answer;
    })(good);
  },
  capturesAllForAPart: onKind("capture", (kind, request, good) =>
    sendIt(kind, { ...request, amount: money(5_000n, request.amount.currency) }, good),
  ),
  capturesMoreThanIsThere: onKind("capture", (kind, request, good) => {
    const amount = request.amount.amount > 5_000n ? money(5_000n, request.amount.currency) : request.amount;
    return sendIt(kind, { ...request, amount }, good);
  }),
  keepsWhatItVoids: onKind("void", async () => ({ outcome: "succeeded", reference: "void" })),
  refundsOnce: (good: Good) => {
    const refunded = new Map<string, Promise<GatewayAnswer>>();
    return onKind("refund", (kind, request) => {
      const before = refunded.get(request.paymentId) ?? sendIt(kind, request, good);
      refunded.set(request.paymentId, before);
      return before;
    })(good);
  },
  declinesWhatIsGone: answering((answer) =>
    answer.outcome === "authorization_gone" ? { outcome: "declined", reason: "gone" } : answer,
  ),
  voidsWhatIsCaptured: answering((answer) =>
    answer.outcome === "mismatch" ? { outcome: "authorization_gone", reason: "captured" } : answer,
  ),
  acceptsAnyPaymentMethod: onKind("authorize", (kind, request, good) => {
    const { paymentMethod } = request as AuthorizeRequest;
    const known = paymentMethod.startsWith("tok_") ? paymentMethod : "tok_ok";
    return sendIt(kind, { ...request, paymentMethod: known }, good);
  }),
  changesItsMindAfterARefusal: (good: Good) => {
    const refused = new Set<string>();
    return sending(async (kind, request) => {
      if (refused.has(request.gatewayKey))
        return sendIt(kind, { ...request, gatewayKey: randomUUID() }, good);
      const answer = await sendIt(kind, request, good);
      if (answer.outcome === "declined" || answer.outcome === "authorization_gone")
        refused.add(request.gatewayKey);
      return answer;
    })(good);
  },

  remembersForEver: (good: Good) => withReplaced(good, { remembersKeysForMs: Infinity }),
  remembersNothing: (good: Good) => withReplaced(good, { remembersKeysForMs: 0 }),
  reportsSuccessForALostRequest: answering((answer) =>
    answer.outcome === "unknown" ? { outcome: "succeeded", reference: "surely" } : answer,
  ),
  takesSilenceForARefusal: answering((answer) =>
    answer.outcome === "unknown" ? { outcome: "declined", reason: "timeout" } : answer,
  ),
  saysThatSilenceWasNotSent: answering((answer) =>
    answer.outcome === "unknown" ? { outcome: "not_sent", reason: "timeout" } : answer,
  ),
  throwsOnSilence: answering((answer) => {
    if (answer.outcome === "unknown") throw new Error(answer.reason);
    return answer;
  }),
  isNeverSureThatNothingWasSent: answering((answer) =>
    answer.outcome === "not_sent" ? { outcome: "unknown", reason: answer.reason } : answer,
  ),
  hangsOnSilence: sending(async (kind, request, good) => {
    const answer = await sendIt(kind, request, good);
    return answer.outcome === "unknown" ? new Promise(() => {}) : answer;
  }),

  throwsOnAnUnknownKey: found((answer) => {
    if (answer.outcome === "absent") throw new Error("404");
    return answer;
  }),
  refusesWhatItDoesNotKnow: found((answer) =>
    answer.outcome === "absent" ? { outcome: "declined", reason: "not found" } : answer,
  ),
  forgetsItsKeys: found(() => ({ outcome: "absent" })),
  findsWithoutLookingAtTheAmount: finding(async (request, good) => {
    const answer = await good.find(request);
    return answer.outcome === "mismatch" ? { outcome: "succeeded", reference: "the same key" } : answer;
  }),
  movesWhenItIsAsked: finding(async (request, good) => {
    const answer = await good.find(request);
    if (answer.outcome !== "absent") return answer;
    const { kind, authorizationReference } = request;
    await sendIt(
      kind,
      { ...request, authorizationReference, paymentMethod: "tok_ok" } as unknown as Sent,
      good,
    );
    return answer;
  }),
  findsWhatIsNotDecided: found((answer) =>
    answer.outcome === "pending" ? { outcome: "succeeded", reference: "soon" } : answer,
  ),
  isSureOfWhatIsNotDecided: answering((answer) =>
    answer.outcome === "pending" ? { outcome: "succeeded", reference: "surely" } : answer,
  ),
  takesWhatItHasTakenForSilence: answering((answer) =>
    answer.outcome === "pending" ? { outcome: "unknown", reason: "processing" } : answer,
  ),
  movesAnewWhatIsPending: sending(async (kind, request, good) => {
    const before = await good.find({ authorizationReference: null, ...request, kind });
    if (before.outcome !== "pending") return sendIt(kind, request, good);
    return sendIt(kind, { ...request, gatewayKey: randomUUID() }, good);
  }),
  forgetsWhatIsPending: found((answer) => (answer.outcome === "pending" ? { outcome: "absent" } : answer)),
  keepsARefusalToItself: finding(async (request, good) => {
    const answer = await good.find(request);
    return answer.outcome === "declined" ? { outcome: "pending" } : answer;
  }),
  renamesWhatWasPending: answering((answer) =>
    answer.outcome === "pending" ? { ...answer, reference: randomUUID() } : answer,
  ),
  decidesNever: (good: Good) => withReplaced(good, { decidesWithinMs: Infinity }),
  showsWhatIsPendingAsFree: drawing(({ authorization }) => ({
    authorization: authorization === "undecided" ? ("open" as const) : authorization,
  })),
  hidesRefundsThatFailed: drawing(({ refunds }) => ({
    refunds: refunds.filter(({ state }) => state !== "failed"),
  })),
  neverHearsThatARefundFailed: (good: Good) => {
    const known = new Map<string, FindAnswer>();
    return finding(async (request) => {
      const answer = known.get(request.gatewayKey) ?? (await good.find(request));
      if (answer.outcome === "succeeded") known.set(request.gatewayKey, answer);
      return answer;
    })(good);
  },
  showsAuthorizationsToEverybody: (good: Good) =>
    withReplaced(good, {
      lookupAuthorization: async (request) => {
        const answer = await good.lookupAuthorization(request);
        return "merchant" in answer ? { ...answer, merchant: "acme" } : answer;
      },
    }),
  showsWhatIsCapturedAsFree: (good: Good) => {
    const known = new Map<string, Awaited<ReturnType<Good["lookupAuthorization"]>>>();
    return withReplaced(good, {
      lookupAuthorization: async (request) => {
        const answer = known.get(request.reference) ?? (await good.lookupAuthorization(request));
        known.set(request.reference, answer);
        return answer;
      },
    });
  },
  takesOurCaptureForAnothers: drawing(({ captured }) => ({
    captured: captured === null ? null : { ...captured, operationId: null },
  })),
  takesAnothersCaptureForOurs: drawing(({ captured }) => ({
    captured: captured === null ? null : { ...captured, operationId: captured.operationId ?? "ours" },
  })),
  showsTheAuthorizedAmountAsCaptured: drawing(({ captured }) => ({
    captured: captured === null ? null : { ...captured, amount: 5_000n },
  })),
  showsOneRefundOfSeveral: drawing(({ refunds }) => ({ refunds: refunds.slice(0, 1) })),
  namesAllRefundsAlike: drawing(({ refunds }) => ({
    refunds: refunds.map((refund) => ({ ...refund, reference: "refund" })),
  })),
  showsRefundsAsTheyBegan: drawing(({ refunds }) => ({
    refunds: refunds.map((refund) => ({ ...refund, state: "succeeded" as const })),
  })),
  takesItsOwnVoidForAnothers: drawing(({ cancellation }) => ({
    cancellation: cancellation === null ? null : { ...cancellation, by: "others" as const },
  })),
  showsWhatLapsedAsOpen: drawing(({ authorization }) => ({
    authorization: authorization === "lapsed" ? ("open" as const) : authorization,
  })),
  missesCancellations: drawing(({ authorization }) => ({
    authorization: authorization === "cancelled" ? ("open" as const) : authorization,
  })),
  keepsDisputesToItself: drawing(() => ({ disputes: [] })),
  drawsWhatItDoesNotKnow: (good: Good) =>
    withReplaced(good, {
      picture: async (request) => {
        const answer = await pictureOf(good, request);
        if (answer.outcome === "seen") return answer;
        const nothing = {
          captured: null,
          cancellation: null,
          authorizedUntil: null,
          refunds: [],
          disputes: [],
        };
        return { outcome: "seen", picture: { authorization: "open", ...nothing } };
      },
    }),
  refundsWhenItDraws: (good: Good) =>
    withReplaced(good, {
      picture: async (request) => {
        const own = { gatewayKey: randomUUID(), operationId: randomUUID() };
        await good.refund({ ...request, ...own, amount: { ...request.amount, amount: 1n } });
        return pictureOf(good, request);
      },
    }),
} satisfies Record<string, (good: Good) => Good>;
