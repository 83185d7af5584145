import Ajv2020 from "ajv/dist/2020";
import {
  gcsObjectName,
  resourceIdOfGcsObject,
} from "../../../../../src/infrastructure/locking/lease/gcs/gcs-object-name";
import {
  isForeign,
  parseLeaseRecord,
  serializeLeaseRecord,
  UnreadableLeaseRecordError,
} from "../../../../../src/infrastructure/locking/lease/protocol/lease-record";
import { leaseSettings } from "../../../../../src/infrastructure/locking/lease/protocol/lease-settings";
import {
  claimed,
  neverHeld,
} from "../../../../../src/infrastructure/locking/lease/protocol/lease-transitions";
import { RecordMemory } from "../../../../../src/infrastructure/locking/lease/protocol/record-memory";
import { recordVersion } from "../../../../../src/infrastructure/locking/lease/protocol/lease-record-store";
import { leaseRecordSchema, leaseVectors, storedText } from "../../../../support/lease-vectors";
import { LeaseWorld } from "../../../../support/worlds/lease-world";

const { names, records, fences } = leaseVectors;
const isAsWritten = new Ajv2020({ allowUnionTypes: true }).compile(leaseRecordSchema);
const place = "gs://locks/nightly.json";

describe("the names of objects", () => {
  test.each(names)(
    "the id $id, $repeat times, has the object name $object",
    ({ prefix, id, repeat = 1, object }) => {
      const whole = id.repeat(repeat);
      expect(gcsObjectName(prefix, whole)).toBe(object);
      expect(resourceIdOfGcsObject(prefix, object)).toBe(object.includes("%long-") ? null : whole);
    },
  );
});

describe("a record that is written as the schema has it", () => {
  test.each(records.written)("a record as the schema has it is read and written: $what", ({ record }) => {
    expect(isAsWritten(record)).toBe(true);
    expect(parseLeaseRecord(JSON.stringify(record), place)).toEqual(record);
    expect(JSON.parse(serializeLeaseRecord(record))).toEqual(record);
  });

  test("a record that is written as the schema has it is what a whole life of a lock leaves in the store", async () => {
    const world = new LeaseWorld();
    const [a, b] = [world.process("a"), world.process("b")];
    const seen: unknown[] = [];
    const look = (): void => void seen.push(JSON.parse(world.records.getText("job") ?? "null"));
    const owner = await world.occupy(a, "job", { purpose: "capture" });
    look();
    const waiting = world.occupy(b, "job", { timeout: "infinite" });
    await world.clock.advance(1_000);
    look();
    await world.clock.advance(10_000);
    look();
    await owner.leave();
    await world.clock.advance(1);
    look();
    await world.clock.advance(2_000);
    await (await waiting).leave();
    await world.clock.advance(1);
    look();
    await world.close();
    expect(seen.map((record) => [record, isAsWritten(record)])).toEqual(seen.map((record) => [record, true]));
    expect(new Set(seen.map((record) => JSON.stringify(record))).size).toBe(5);
  });
});

describe("a record that is not written so, and read all the same", () => {
  test.each(records.tolerated)("a record of another implementation is read all the same: $what", (vector) => {
    expect(parseLeaseRecord(storedText(vector), place)).toEqual(vector.readAs);
  });

  test("none of them is superfluous: as written they are of another implementation, or against the schema, or more than it", () => {
    for (const vector of records.tolerated) {
      const text = storedText(vector);
      const stored: unknown = JSON.parse(text);
      const isExact = isAsWritten(stored) && text === serializeLeaseRecord(vector.readAs);
      expect([vector.what, isExact]).toEqual([vector.what, false]);
    }
  });
});

describe("what cannot be understood", () => {
  test.each(records.refused)("a record that cannot be understood is refused: $what: $flaw", (vector) => {
    const reading = (): unknown => parseLeaseRecord(storedText(vector), place);
    expect(reading).toThrow(UnreadableLeaseRecordError);
    expect(reading).toThrow(`${place} is not a lease record (${vector.flaw})`);
    expect(reading).toThrow(/look at it, and remove it when this lock has no holder$/);
  });

  test("nor does the schema have it", () => {
    const isJson = (text: string): boolean => {
      try {
        JSON.parse(text);
        return true;
      } catch {
        return false;
      }
    };
    for (const vector of records.refused.filter((each) => isJson(storedText(each))))
      expect([vector.what, isAsWritten(JSON.parse(storedText(vector)))]).toEqual([vector.what, false]);
  });
});

describe("the next fence", () => {
  test.each(fences)(
    "the next fence is above everything that was seen: $what",
    ({ record, seen, serviceMs, fence }) => {
      const settings = leaseSettings();
      const memory = new RecordMemory(settings);
      const withFence = (of: number) => ({ ...neverHeld(settings.ttlMs), fence: of });
      memory.saw("job", { record: withFence(seen), version: recordVersion(1), storeNowMs: serviceMs }, 0);
      memory.sawNone("job");
      const claim = {
        ownerId: "a:1:t1",
        renewSeq: 0,
        ttlMs: settings.ttlMs,
        holder: { host: "a", pid: 1, operation: null },
        at: { monotonicMs: 0, wallMs: serviceMs },
        waiterTtlMs: settings.waiterTtlMs,
        fenceAbove: Math.max(serviceMs, memory.greatestFence("job")),
      };
      const found = record === null ? null : withFence(record);
      expect(claimed(found, claim).fence).toBe(fence);
    },
  );
});

test("a record without ttlMs is another implementation's, also after it was written back", () => {
  const foreign = records.tolerated.map(({ readAs }) => readAs).filter(isForeign);
  expect(foreign.length).toBeGreaterThan(1);
  for (const record of foreign) expect(parseLeaseRecord(serializeLeaseRecord(record), place)).toEqual(record);
});
