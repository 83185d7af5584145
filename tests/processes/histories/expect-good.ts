import { judge, type Judgement } from "../../support/linearizability/payment/judge";
import type { HttpCall } from "../../support/linearizability/history/http-call";
import type { GatewayBehaviour } from "../../support/linearizability/payment/gateway-behaviour";
import { isFullStorm, reportStorm } from "../../support/storms";

interface Expected {
  /** By payment method. Default: as the simulated gateway's page says. */
  readonly gateway?: (paymentMethod: string) => GatewayBehaviour;
  /** A storm that saw less than this has shown nothing. */
  readonly leastCalls?: number;
  /** Of processes, while callers were asking. */
  readonly kills: number;
}

export function expectGood(
  name: string,
  history: readonly HttpCall[],
  { gateway, leastCalls = 200, kills }: Expected,
): Judgement {
  const begunMs = performance.now();
  const judgement = judge(history, gateway);
  const { payments, calls, answered, bad } = judgement;
  if (isFullStorm) {
    const seconds = ((performance.now() - begunMs) / 1_000).toFixed(1);
    process.stderr.write(
      `${name}: ${calls} calls of ${payments} payments, ${answered} answered, judged in ${seconds} s\n`,
    );
  }
  if (bad.length > 0) throw new Error(`${name}:\n${bad.join("\n\n")}`);
  expect(answered).toBeGreaterThan(leastCalls);
  reportStorm({ judged: calls, kills });
  return judgement;
}
