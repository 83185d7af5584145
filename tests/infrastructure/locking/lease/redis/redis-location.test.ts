import { withoutPassword } from "../../../../../src/infrastructure/configuration/addresses";
import { redisLocation } from "../../../../../src/infrastructure/locking/lease/redis/redis-location";

describe("where a Redis is", () => {
  it.each([
    ["redis://h:1/2", { kind: "single", url: "redis://h:1/2" }],
    ["rediss://h/", { kind: "single", url: "rediss://h/" }],
    [
      "redis+cluster://one:7000,two,[::1]:7002",
      {
        kind: "cluster",
        tls: false,
        servers: [
          { host: "one", port: 7000 },
          { host: "two", port: 6379 },
          { host: "::1", port: 7002 },
        ],
      },
    ],
    [
      "rediss+cluster://user:p%40ss@one",
      {
        kind: "cluster",
        tls: true,
        username: "user",
        password: "p@ss",
        servers: [{ host: "one", port: 6379 }],
      },
    ],
    [
      "redis+sentinel://:secret@one,two:5000/my%20master/3",
      {
        kind: "sentinel",
        tls: false,
        password: "secret",
        servers: [
          { host: "one", port: 26379 },
          { host: "two", port: 5000 },
        ],
        master: "my master",
        db: 3,
      },
    ],
  ])("the place of a Redis is read from %s", (url, location) => {
    expect(redisLocation(url)).toEqual(location);
  });

  it.each([
    ["http://h", /none of/],
    ["redis://h/x", /is no database/],
    ["redis://h/-1", /is no database/],
    ["redis://h/1/2", /is no database/],
    ["redis://h:1/?db=x", /"x" is no database/],
    ["redis+cluster://one,,two", /"" is no server/],
    ["redis+cluster://one:70000", /is no server/],
    ["redis+cluster://one/3", /no databases but 0/],
    ["redis+sentinel://one", /name of the master/],
    ["redis+sentinel://one/name/db", /name of the master/],
  ])("the place of a Redis is refused in words for %s", (url, words) => {
    expect(() => redisLocation(url)).toThrow(words);
  });

  it("the place of a Redis is shown without its password", () => {
    expect(withoutPassword("redis+cluster://user:secret@one,two")).toBe("redis+cluster://user:***@one,two");
    expect(withoutPassword("redis+sentinel://:secret@one/name")).toBe("redis+sentinel://:***@one/name");
  });
});
