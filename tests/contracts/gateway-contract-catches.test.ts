import { spawn } from "node:child_process";
import { once } from "node:events";
import type { AuthorizationLookup } from "../../src/application/ports/authorization-lookup";
import type { PaymentGateway } from "../../src/application/ports/payment-gateway";
import { gatewayLayers } from "../../src/gateway";
import { gatewayContract, runGatewayContractTest, type GatewayUnderTest } from "../../src/gateway-contract";
import { isMeantFor } from "../../src/infrastructure/gateways/contract/contract-test";
import { InMemoryGatewayLedger } from "../../src/infrastructure/gateways/simulated/ledgers/in-memory-gateway-ledger";
import { brokenGateways } from "../support/fakes/broken-gateways";
import { size } from "../support/test-size";
import { typescriptChild } from "../support/children/typescript-child";
import { simulatedGatewayHarness } from "./payment-gateways/simulated-gateway-harness";

type Good = PaymentGateway & AuthorizationLookup;
type Defect = keyof typeof brokenGateways;

/** A defect, and the promise that has to be seen broken. */
const CAUGHT: readonly [Defect, string][] = [
  ["movesAnewForEachSend", "moves once: any capture sent again under its key gets the same answer"],
  ["movesTwiceForOneSend", "moves once: any capture that succeeds moves money once"],
  ["movesAnewWhenTwoCome", "moves once: any capture sent ten times at once under one key moves money once"],
  ["answersDifferentlyTheNextTime", "moves once: any refund sent again under its key gets the same answer"],
  ["hasNoReference", "moves once: any authorize that succeeds moves money once and has a reference"],
  ["takesAnotherAmountForTheSame", "moves once: any capture key sent again with another amount"],
  ["capturesAllForAPart", "moves once: a capture of a part moves that part"],
  ["capturesMoreThanIsThere", "moves once: a capture above the authorized amount is declined"],
  ["keepsWhatItVoids", "moves once: a void lets go of everything"],
  ["refundsOnce", "moves once: several refunds under keys of their own each move their part"],
  ["declinesWhatIsGone", "moves once: any capture of a voided authorization is told that it is gone"],
  ["voidsWhatIsCaptured", "moves once: a void of a captured authorization is a mismatch"],
  ["voidsWhatIsCaptured", "moves once: any void of what somebody has captured in the meantime is a mismatch"],
  ["acceptsAnyPaymentMethod", "moves once: an authorize with an unknown payment method is declined"],
  ["changesItsMindAfterARefusal", "moves once: any refund that is refused is declined for good"],
  ["changesItsMindAfterARefusal", "moves once: any refund that finds its authorization gone is told so"],
  ["remembersForEver", "is honest about silence: a payment gateway remembers its keys for a time"],
  ["remembersNothing", "is honest about silence: a payment gateway remembers its keys for a time"],
  [
    "reportsSuccessForALostRequest",
    "is honest about silence: any capture is unknown when it is silent before",
  ],
  [
    "takesSilenceForARefusal",
    "is honest about silence: any capture is unknown, not failed, when it is silent after",
  ],
  [
    "saysThatSilenceWasNotSent",
    "is honest about silence: any refund is unknown when it is silent before acting",
  ],
  [
    "throwsOnSilence",
    "is honest about silence: any void is unknown, not failed, when it is silent after acting",
  ],
  ["isNeverSureThatNothingWasSent", "is honest about silence: any capture is not sent when nothing reached"],
  [
    "hangsOnSilence",
    "is honest about silence: any capture is given up, as unknown, when the caller's patience ends",
  ],
  ["throwsOnAnUnknownKey", "can be found again: any capture key that never came is absent"],
  ["refusesWhatItDoesNotKnow", "can be found again: any capture key that never came is absent"],
  [
    "refusesWhatItDoesNotKnow",
    "can be found again: any refund that lands late is absent before, and found after",
  ],
  ["forgetsItsKeys", "can be found again: any capture that succeeded is found, with the answer that it got"],
  ["forgetsItsKeys", "can be found again: any authorize that is silent after acting is found by what it did"],
  [
    "findsWithoutLookingAtTheAmount",
    "can be found again: any refund found with another amount is a mismatch",
  ],
  [
    "movesWhenItIsAsked",
    "can be found again: any capture key that never came is absent, and asking moves nothing",
  ],
  ["isSureOfWhatIsNotDecided", "answers later: any capture that is taken and not decided is pending"],
  ["takesWhatItHasTakenForSilence", "answers later: any refund that is taken and not decided is pending"],
  ["findsWhatIsNotDecided", "answers later: any capture that is pending is found so until it is decided"],
  ["forgetsWhatIsPending", "answers later: any void that is pending is found so until it is decided"],
  [
    "movesAnewWhatIsPending",
    "answers later: any capture that is pending and comes a second time is not done",
  ],
  ["renamesWhatWasPending", "answers later: any refund that is pending keeps the name that it was given"],
  ["keepsARefusalToItself", "answers later: any refund that is refused after it was pending is found as"],
  ["decidesNever", "answers later: a gateway that answers later says for how long in a time"],
  ["showsWhatIsPendingAsFree", "shows its picture: a picture of a capture that is not decided is undecided"],
  [
    "hidesRefundsThatFailed",
    "shows its picture: a picture of a refund that was refused after it was pending",
  ],
  [
    "neverHearsThatARefundFailed",
    "can be found again: any refund that fails after it succeeded is found as it is",
  ],
  ["showsAuthorizationsToEverybody", "can be found again: an authorization of ours names no merchant"],
  [
    "showsAuthorizationsToEverybody",
    "can be found again: an authorization made elsewhere for nobody says so",
  ],
  ["showsWhatIsCapturedAsFree", "can be found again: an authorization made elsewhere for acme says so"],
  ["takesOurCaptureForAnothers", "shows its picture: a picture of a capture of a part names its operation"],
  ["takesOurCaptureForAnothers", "shows its picture: a picture of a capture whose answer was lost shows it"],
  ["takesAnothersCaptureForOurs", "shows its picture: a picture of a capture by others names no operation"],
  ["showsTheAuthorizedAmountAsCaptured", "shows its picture: a picture of a capture of a part names"],
  ["showsOneRefundOfSeveral", "shows its picture: a picture of two refunds shows each"],
  ["showsOneRefundOfSeveral", "shows its picture: a picture of a refund by others stands beside ours"],
  ["namesAllRefundsAlike", "shows its picture: a picture of two refunds shows each"],
  ["showsRefundsAsTheyBegan", "shows its picture: a picture of a refund that failed later says so"],
  ["showsRefundsAsTheyBegan", "shows its picture: a picture of a refund that is not decided is pending"],
  ["takesItsOwnVoidForAnothers", "shows its picture: a picture of a void shows the authorization cancelled"],
  [
    "showsWhatLapsedAsOpen",
    "shows its picture: a picture of an authorization that ended by itself is lapsed",
  ],
  ["missesCancellations", "shows its picture: a picture of a cancellation by others names no operation"],
  ["keepsDisputesToItself", "shows its picture: a picture shows a dispute"],
  [
    "drawsWhatItDoesNotKnow",
    "shows its picture: a picture of an authorization that the gateway does not have",
  ],
  ["refundsWhenItDraws", "shows its picture: a picture moves nothing, however often it is asked for"],
];

const MUCH_PATIENCE_MS = 5_000;
const LITTLE_PATIENCE_MS = 150;

function subject(
  change: (good: Good) => Good,
  patienceMs: number,
  changed: Partial<GatewayUnderTest> = {},
): GatewayUnderTest {
  const simulated = simulatedGatewayHarness("changed", async () => ({
    ledger: new InMemoryGatewayLedger(),
    close: () => undefined,
  }));
  return {
    ...simulated,
    patienceMs,
    open: async () => {
      const opened = await simulated.open();
      return { ...opened, gateway: change(opened.gateway as Good) };
    },
    ...changed,
  };
}

/** The tests that this gateway does not pass, with their layers, of all or of those whose names have these words. */
async function failed(under: GatewayUnderTest, words = ""): Promise<string[]> {
  const names = await Promise.all(
    gatewayContract
      .filter((test) => isMeantFor(test, under) && `${test.layer}: ${test.name}`.includes(words))
      .map((test) =>
        runGatewayContractTest(test, under).then(
          () => [],
          () => [`${test.layer}: ${test.name}`],
        ),
      ),
  );
  return names.flat();
}

const asItIs = (good: Good): Good => good;

describe("the contract of payment gateways", () => {
  it.each(CAUGHT)(
    "the contract of payment gateways catches a gateway that %s (%s)",
    async (defect, promise) => {
      const names = await failed(subject(brokenGateways[defect], LITTLE_PATIENCE_MS), promise);
      expect(names).not.toEqual([]);
    },
  );

  it("the contract of payment gateways names every defect that is planted", () => {
    expect(new Set(CAUGHT.map(([defect]) => defect))).toEqual(new Set(Object.keys(brokenGateways)));
  });

  it("the contract of payment gateways passes the good gateway that the broken ones are made of", async () => {
    expect(await failed(subject(asItIs, MUCH_PATIENCE_MS))).toEqual([]);
  });

  it("the contract of payment gateways has tests for every layer, and no two of one name", () => {
    expect(new Set(gatewayContract.map(({ layer }) => layer))).toEqual(new Set(Object.keys(gatewayLayers)));
    const names = gatewayContract.map(({ layer, name }) => `${layer}: ${name}`);
    expect(names).toEqual([...new Set(names)]);
  });

  it("the contract of payment gateways does not pass a gateway whose test can bring no silence about", async () => {
    const names = await failed(subject(asItIs, MUCH_PATIENCE_MS, { canBring: () => false }));
    // Of each of four kinds before and after acting, sent and found; and two pictures of a capture.
    expect(names).toHaveLength(4 * 4 + 2);
    for (const name of names)
      expect(name).toMatch(/silent (before|after) acting|capture (that|whose answer) was lost/);
  });

  it("the contract of payment gateways asks a gateway only for the layers that it says it has", async () => {
    const without = subject(brokenGateways.forgetsItsKeys, MUCH_PATIENCE_MS, {
      layers: ["moves once", "is honest about silence"],
    });
    expect(await failed(without)).toEqual([]);
  });

  // That a good one ends well there is seen in tests/examples/gateway-module.test.ts, too.
  it.each([...size([["good", 0] as const], []), ["broken", 1] as const])(
    "the contract runs under node:test too: a %s gateway ends it with status %i",
    async (gateway, status) => {
      const { file, args } = typescriptChild("gateways/contract-under-node-test.ts", gateway);
      const child = spawn(file, args, { stdio: "ignore" });
      const [code] = await once(child, "close");
      expect(code).toBe(status);
    },
  );
});
