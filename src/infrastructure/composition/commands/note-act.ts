import { existsSync } from "node:fs";
import { entryOf, type Act, type Done } from "../../../application/audit/act";
import type { Configuration } from "../../configuration/configuration";
import { UuidV7Generator } from "../../identity/uuid-v7-generator";
import { SystemClock } from "../../time/system-clock";
import { Closers } from "../opening/closers";
import { openStore } from "../opening/open-store";

/** Writes down what is done outside of the store. False where this host has no store: then nobody would look there. */
export async function noteAct({ settings }: Configuration, act: Act, done: Done): Promise<boolean> {
  const { value } = settings.store;
  if (value.kind === "memory" || (value.kind === "sqlite" && !existsSync(value.file))) return false;
  const clock = new SystemClock();
  const closers = new Closers();
  try {
    const store = await openStore(value, clock, closers);
    await store.migration.migrate();
    await store.auditTrail.add(entryOf(act, done, { clock, ids: new UuidV7Generator(clock) }));
    return true;
  } finally {
    await closers.close();
  }
}
