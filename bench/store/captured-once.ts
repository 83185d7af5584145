import type { OperationOutcome } from "../../src/application/operations/operation-outcome";
import { openApplication } from "../../src/infrastructure/composition/opening/open-application";
import { readConfiguration } from "../../src/infrastructure/configuration/configuration";
import { authorizeOne, captureOf } from "./authorized";

/** What a capture answers, from one that was really made, in memory. */
export async function capturedOnce(): Promise<OperationOutcome> {
  const configuration = readConfiguration({
    flags: { store: "memory:", "log-level": "silent" },
    environment: {},
  });
  const application = await openApplication(configuration, { purpose: "bench" });
  try {
    return await captureOf(application, await authorizeOne(application));
  } finally {
    await application.close();
  }
}
