import { parsePaymentId } from "../../../src/domain/identifiers";
import { UuidV7Generator } from "../../../src/infrastructure/identity/uuid-v7-generator";
import { NOON } from "../../support/worlds/payments";

const UUID_V7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

function generatorAt(...times: readonly Date[]): UuidV7Generator {
  const left = [...times];
  return new UuidV7Generator({ now: () => (left.length > 1 ? left.shift()! : left[0]!) });
}

function timeOf(id: string): number {
  return Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16);
}

describe("UuidV7Generator", () => {
  it("UuidV7Generator makes lower-case UUIDs of version 7 that are payment ids", () => {
    const generator = generatorAt(NOON);
    for (let n = 0; n < 1000; n += 1) {
      const id = generator.nextId();
      expect(id).toMatch(UUID_V7);
      expect(parsePaymentId(id)).toBe(id);
    }
  });

  it("UuidV7Generator carries the millisecond in which it was made", () => {
    expect(timeOf(generatorAt(NOON).nextId())).toBe(NOON.getTime());
    expect(timeOf(generatorAt(new Date(0)).nextId())).toBe(0);
  });

  it("UuidV7Generator never repeats itself and ascends, although the clock stands still for longer than the counter lasts", () => {
    const generator = generatorAt(NOON);
    const ids = Array.from({ length: 20_000 }, () => generator.nextId());
    expect(new Set(ids).size).toBe(ids.length);
    expect([...ids].sort()).toEqual(ids);
  });

  it("ascends although the clock goes back", () => {
    const generator = generatorAt(NOON, new Date(NOON.getTime() - 60_000), new Date(NOON.getTime() + 1));
    const ids = [generator.nextId(), generator.nextId(), generator.nextId()];
    expect([...ids].sort()).toEqual(ids);
    expect(timeOf(ids[2]!)).toBe(NOON.getTime() + 1);
  });

  it("UuidV7Generator gives two processes different ids in the same millisecond", () => {
    const [one, other] = [generatorAt(NOON), generatorAt(NOON)];
    const ids = Array.from({ length: 1000 }, () => [one.nextId(), other.nextId()]).flat();
    expect(new Set(ids).size).toBe(ids.length);
  });
});
