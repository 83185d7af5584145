import { ContainerModule } from "inversify";
import { randomBytes } from "node:crypto";
import type { Clock } from "../../../application/ports/clock";
import type { Configuration } from "../../configuration/configuration";
import { UuidV7Generator } from "../../identity/uuid-v7-generator";
import type { Closers } from "../opening/closers";
import { constructs } from "./constructs";
import { tokens } from "./tokens";

const idGenerator = constructs(UuidV7Generator, [tokens.clock]);
/** `hf_` and 192 random bits. */
const newSecret = () => `hf_${randomBytes(24).toString("base64url")}`;

/** 256 random bits. */
const newSessionId = () => randomBytes(32).toString("base64url");

/** What everything else stands on. */
export function programModule(configuration: Configuration, clock: Clock, closers: Closers): ContainerModule {
  return new ContainerModule(({ bind }) => {
    bind(tokens.configuration).toConstantValue(configuration);
    bind(tokens.closers).toConstantValue(closers);
    bind(tokens.clock).toConstantValue(clock);
    bind(tokens.ids).to(idGenerator);
    bind(tokens.newSessionId).toConstantValue(newSessionId);
    bind(tokens.newSecret).toConstantValue(newSecret);
  });
}
