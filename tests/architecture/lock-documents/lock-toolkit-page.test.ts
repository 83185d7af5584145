import { readFileSync } from "node:fs";
import { join } from "node:path";
import { GcsStandIn } from "../../support/gcs-stand-in/gcs-stand-in";
import { InstalledPackage } from "../../support/program/installed-package";
import { describeAtFullSize, describeWithPostgres, describeWithRedis } from "../../support/servers/servers";

jest.setTimeout(180_000);

const page = readFileSync(join(__dirname, "..", "..", "..", "docs", "lock-toolkit.md"), "utf8");

/** The page's samples that a test runs, by their headings. */
const samples = new Map(
  page.split(/^#{2,3} /m).flatMap((section) => {
    const sample = /<!-- a test runs this -->\n\n```ts\n([\s\S]*?)```/.exec(section)?.[1];
    return sample === undefined ? [] : [[section.slice(0, section.indexOf("\n")), sample] as const];
  }),
);
const fileOf = (heading: string): string => `${heading.toLowerCase().replaceAll(" ", "-")}.mts`;

/** What each sample prints that needs nothing but the package. */
const PRINTS: Readonly<Record<string, RegExp>> = {
  Memory: /^42 true \[\s+\{\s+resourceId: 'account:42'/,
  Files: /^$/,
  None: /^$/,
  "Limits and options": /^acquired\nreleased$/,
  Errors: /^lock_timeout first$/,
  "A try": /^ran\n2$/,
  Handles: /^null\naccount:1,account:2$/,
  "A minimum hold": /^sent\nnull\nthe next time$/,
  Semaphores: /^job 1 in slot 1\njob 2 in slot 2\nnull\nlock_permits 3 2$/,
  "Leader election": /^elected\nstepping down\nover$/,
  "Several locks": /^$/,
  "Log and metrics": /holdfast_lock_wait_seconds_count\{adapter="memory",scope="none"\} 1/,
  "An own backend": /^true\ntrue$/,
  "In your own tests": /^(# |ℹ )pass [1-9]\d*$/m,
};
/** The contract of an own record store: a sketch, which names what only its reader has. */
const SKETCHES = 1;

describeAtFullSize("docs/lock-toolkit.md, as it stands there, in the project of another author", () => {
  let installed: InstalledPackage;
  beforeAll(async () => {
    installed = await InstalledPackage.install();
    const files = [...samples].map(([heading, text]) => installed.write(fileOf(heading), text));
    installed.compileSamples(files);
  });
  afterAll(() => installed.remove());

  const run = (heading: string, env?: NodeJS.ProcessEnv): Promise<string> => {
    if (!samples.has(heading)) throw new Error(`docs/lock-toolkit.md has no sample under "${heading}"`);
    const file = fileOf(heading).replace(".mts", ".mjs");
    return installed.run(file, env);
  };

  test("has no sample that no test runs", () => {
    const served = ["PostgreSQL", "Redis", "Cloud Storage", "Long ownership"];
    expect([...samples.keys()].sort()).toEqual([...Object.keys(PRINTS), ...served].sort());
    expect(page.match(/```ts\n/g)).toHaveLength(samples.size + SKETCHES);
  });

  test.each(Object.entries(PRINTS))(
    'the sample under "%s" prints what the page says',
    async (heading, printed) => {
      expect(await run(heading)).toMatch(printed);
    },
  );

  test("Cloud Storage", async () => {
    const standIn = await GcsStandIn.start({ buckets: ["my-locks"] });
    try {
      expect(await run("Cloud Storage", { STORAGE_EMULATOR_HOST: standIn.url })).toBe("true");
    } finally {
      await standIn.close();
    }
  });

  describeWithPostgres("with a PostgreSQL", (server) => {
    test("PostgreSQL", async () => {
      expect(await run("PostgreSQL", { DATABASE_URL: server.url })).toMatch(/^\d+n$/);
    });
  });

  describeWithRedis("with a Redis", (server) => {
    test.each(["Redis", "Long ownership"])('the sample under "%s" runs with a Redis', async (heading) => {
      expect(await run(heading, { REDIS_URL: server.url })).toBe("");
    });
  });
});
