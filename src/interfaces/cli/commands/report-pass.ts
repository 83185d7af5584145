import type { PassReport } from "../../../application/background/background-pass";
import type { StoreCommands } from "../backend";
import type { CommandContext } from "../cli";
import { noticeOnStderr } from "../notice-on-stderr";

/** Some payments could not be worked on; which, the log has said. */
class PassFailedError extends Error {
  override readonly name = "PassFailedError";
  readonly code = "service_unavailable";
}

export async function reportPass(
  context: CommandContext,
  use: "reconcile" | "expire",
  run: (store: StoreCommands) => Promise<PassReport>,
): Promise<void> {
  const report = await context.configured().withStore(use, run, noticeOnStderr(context.output()));
  const { done, skipped, failed } = report;
  context
    .output()
    .result(
      report,
      `${use === "expire" ? "expired" : "reconciled"} ${done}, skipped ${skipped} (in use elsewhere), failed ${failed}`,
    );
  if (failed > 0) throw new PassFailedError(`${failed} payments failed and stay due: run the command again`);
}
