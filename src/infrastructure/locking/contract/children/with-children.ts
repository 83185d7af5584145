import { strict as assert } from "node:assert";
import type { LockContractLayer, LockContractTest, LockContractWorld } from "../contract-test";
import { LockChild } from "./lock-child";

export interface WorldWithChildren extends LockContractWorld {
  start(): LockChild;
}

/** Tests with as many child processes as each of them starts, none of which outlives it. */
export function testWithChildren(layer: LockContractLayer) {
  return (name: string, run: (world: WorldWithChildren) => Promise<void>): LockContractTest => ({
    layer,
    name,
    run: async (world) => {
      const { child: command } = world;
      assert.ok(command !== undefined, `"${layer}" needs \`child\``);
      const children: LockChild[] = [];
      const start = (): LockChild => {
        const child = new LockChild(command, world.patienceMs);
        children.push(child);
        return child;
      };
      try {
        await run({ ...world, start });
      } finally {
        await Promise.all(children.map((child) => child.kill()));
      }
    },
  });
}
