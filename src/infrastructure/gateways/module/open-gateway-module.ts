import { assertIsGateway } from "./assert-is-gateway";
import { CheckedGateway } from "./checked-gateway";
import { GatewayModuleError } from "./gateway-module-error";
import { inPrint, withoutValues } from "./in-print";
import { loadGatewayModule } from "./load-gateway-module";
import type { GatewayOptions, OwnGateway } from "./own-gateway";

/** For loading the module, and again for what it opens: it may ask its bank whether its key is good. */
const START_MS = 30_000;

/** The gateway of a module. Throws `GatewayModuleError`. */
export async function openGatewayModule(
  file: string,
  options: GatewayOptions,
  startMs = START_MS,
): Promise<CheckedGateway> {
  const opened = await loadGatewayModule(file, options, startMs);
  assertIsSound(opened, options);
  return new CheckedGateway(opened, options);
}

/** What it names, and what its members throw while they are looked at, may hold a value of its options. */
function assertIsSound(opened: unknown, options: GatewayOptions): asserts opened is OwnGateway {
  try {
    assertIsGateway(opened);
  } catch (error) {
    const said =
      error instanceof GatewayModuleError
        ? withoutValues(error.message, options)
        : `what openGateway returned cannot be looked at: ${inPrint(error, options)}`;
    throw new GatewayModuleError(said);
  }
}
