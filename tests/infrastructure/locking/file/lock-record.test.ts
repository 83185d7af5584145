import {
  parseRecord,
  serializeRecord,
  type LockRecord,
} from "../../../../src/infrastructure/locking/file/on-disk/lock-record";

const record: LockRecord = {
  pid: 4711,
  host: "web-2",
  pidNamespace: "pid:[4026531836]",
  bootId: "b",
  startTime: "12345",
  resourceId: 'task:"\n\ud83d',
  nonce: "n1",
  task: "deploy",
  since: "2026-11-18T09:00:00.000Z",
  childPid: 4712,
  childStartTime: "12346",
  released: false,
};

describe("what a lock file says", () => {
  it("what a lock file says is one line that reads back as it was written, whatever the id", () => {
    const text = serializeRecord(record);
    expect(text.match(/\n/g)).toHaveLength(1);
    expect(parseRecord(text)).toMatchObject(record);
  });

  it("what a lock file says ends with its first line: a shorter record may lie over a longer one", () => {
    expect(parseRecord(`${serializeRecord(record)}y":"rest of the one before"}\n`)).toMatchObject(record);
  });

  it("what a lock file says is torn wherever it was cut, and never taken for another's", () => {
    const text = serializeRecord(record);
    for (let length = '{"holdfast":1,'.length; length < text.length; length++)
      expect(parseRecord(text.slice(0, length))).toBe("torn");
  });

  it.each(["4711\n", "{}\n", '{"pid":4711}\n', "\0\0\0x", '{"holdfast":1,"pid":"4711"}\n'])(
    "what a lock file says is somebody else's if we cannot have written it: %j",
    (text) => expect(parseRecord(text)).toBe("foreign"),
  );

  it("what a lock file says is nothing at all, if a power failure left zeros", () =>
    expect(parseRecord("\0\0\0")).toBe("zeros"));

  it.each(Object.keys(record))("what a lock file says is nothing without its %s", (name) => {
    const { [name as keyof LockRecord]: _missing, ...rest } = record;
    expect(parseRecord(serializeRecord(rest as LockRecord))).toBe("foreign");
  });
});
