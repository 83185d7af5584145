import { parseLocks } from "../../../src/infrastructure/configuration/adapter-urls";
import {
  adviseLocks,
  isForProcesses,
  kindOf,
  lockForms,
  lockKinds,
  type LockSetting,
} from "../../../src/infrastructure/configuration/lock-catalogue";
import type { LockKindByReach } from "../../../src/infrastructure/locking/lock-kind";

/** One address of each kind. A kind that is added has to be written down here, or this does not compile. */
const addresses = {
  memory: "memory:",
  none: "none:",
  file: "file:/var/locks",
  postgres: "postgres://h/d",
  redis: "redis://h",
  gcs: "gs://bucket/prefix",
} satisfies Record<keyof typeof lockKinds, string>;

const chosen = Object.entries(addresses).map(([kind, address]) => [kind, parseLocks(address)] as const);

describe("the catalogue of locks", () => {
  it.each(chosen)("reads an address of the kind %s", (kind, setting) => {
    expect(setting.kind).toBe(kind);
  });

  it.each(chosen)("finds what the kind %s can do, by whom it keeps apart", (_, setting) => {
    const { reach, load } = kindOf(setting as LockSetting);
    const can = Object.keys(load()).sort();
    const expected = {
      nobody: ["open"],
      process: ["open"],
      host: ["inspect", "open"],
      network: ["inspect", "leases", "open"],
    };
    expect(can).toEqual(expected[reach]);
  });

  it("tells how each kind is written, and what to use where other processes take part", () => {
    const forms = lockForms().split(", ");
    for (const { forms: own } of Object.values(lockKinds))
      expect(forms).toEqual(expect.arrayContaining([...own]));
    expect(adviseLocks(isForProcesses)).toBe("file:<dir>, postgres://…, redis://… or gs://bucket/prefix");
    expect(adviseLocks((reach) => reach === "host")).toBe("file:<dir>");
  });

  it("does not compile with a kind that lacks what its reach demands", () => {
    const { memory, file } = lockKinds;
    const planted = (): unknown[] => {
      // @ts-expect-error -- locks of a host can be inspected
      const host: LockKindByReach<object>["host"] = memory.load();
      // @ts-expect-error -- locks of a network lend leases
      const network: LockKindByReach<{ readonly directory: string }>["network"] = file.load();
      return [host, network];
    };
    expect(planted).toBeInstanceOf(Function);
  });
});
