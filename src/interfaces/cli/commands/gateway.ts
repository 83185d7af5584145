import { Command } from "commander";
import type { CommandContext } from "../cli";
import { amountText, paymentText, type WirePayment } from "../client/in-words";
import { ServerClient } from "../client/server-client";
import { table } from "../output";

interface WireObservation {
  readonly operationId: string;
  readonly kind: string;
  readonly amount: number;
  readonly recorded: string;
  readonly gateway: {
    readonly answer: string;
    readonly reason?: string;
    readonly evidence?: string;
    readonly reference?: string;
  } | null;
  readonly result: string;
  readonly notAsked: string | null;
}

/** `gateway`: what the gateway says about a payment, on a running server, with an operator's key. */
export function gatewayCommand(context: CommandContext): Command {
  const gateway = new Command("gateway").description(
    "what the gateway says about a payment, on a running server",
  );
  gateway
    .command("observe")
    .description(
      "ask the gateway again about what has ended, and correct a refund that failed after it had succeeded; nothing is sent",
    )
    .argument("<payment>", "its id")
    .addHelpText("after", "\nExample:\n  $ holdfast gateway observe 019aa2b4-7c00-7d3a-9c55-3f1f6b8a2e01\n")
    .action(async (id: string) => {
      const path = `/gateway/payments/${encodeURIComponent(id)}/observe`;
      const { body } = await new ServerClient(context.configured().server()).post(path, {});
      const payment = body["payment"] as WirePayment;
      const operations = body["operations"] as readonly WireObservation[];
      const output = context.output();
      output.result(body, [observed(operations, payment), paymentText(payment)].join("\n"));
      if (operations.some(({ result }) => result === "in_review")) {
        output.note("what contradicts the gateway waits for a person: holdfast review list");
      }
    });
  return gateway;
}

function observed(operations: readonly WireObservation[], payment: WirePayment): string {
  return table([
    ["OPERATION", "KIND", "AMOUNT", "RECORDED", "THE GATEWAY SAYS", "RESULT"],
    ...operations.map((one) => [
      one.operationId,
      one.kind,
      amountText(one.amount, payment),
      one.recorded,
      saidText(one),
      one.result,
    ]),
  ]);
}

function saidText({ gateway, notAsked }: WireObservation): string {
  if (gateway === null) return `not asked: ${notAsked}`;
  const { answer, reason, evidence, reference } = gateway;
  const words = reason ?? evidence ?? reference;
  return words === undefined ? answer : `${answer}: ${words}`;
}
