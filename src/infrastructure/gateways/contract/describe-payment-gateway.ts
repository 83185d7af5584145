import { answersLater } from "./answers-later";
import { canBeFoundAgain } from "./can-be-found-again";
import {
  isMeantFor,
  limitOf,
  runGatewayContractTest,
  type GatewayContractTest,
  type GatewayUnderTest,
} from "./contract-test";
import { isHonestAboutSilence } from "./is-honest-about-silence";
import { movesOnce } from "./moves-once";
import { showsItsPicture } from "./shows-its-picture";

/** The two functions that Jest, Vitest and node:test agree on. */
export interface GatewayTestFramework {
  readonly describe: (name: string, body: () => void) => unknown;
  readonly it: (name: string, body: () => Promise<void>, timeoutMs?: number) => unknown;
}

/** Every promise of the `PaymentGateway` port, as tests that can be run without a framework. */
export const gatewayContract: readonly GatewayContractTest[] = [
  ...movesOnce,
  ...isHonestAboutSilence,
  ...canBeFoundAgain,
  ...answersLater,
  ...showsItsPicture,
];

/** Registers the contract's tests for one gateway. */
export function describePaymentGateway(
  { describe, it }: GatewayTestFramework,
  subject: GatewayUnderTest,
): void {
  const tests = gatewayContract.filter((test) => isMeantFor(test, subject));
  describe(`the contract of payment gateways, kept by ${subject.name}`, () => {
    for (const layer of subject.layers)
      describe(layer, () => {
        for (const test of tests)
          if (test.layer === layer)
            it(test.name, () => runGatewayContractTest(test, subject), limitOf(subject));
      });
  });
}
