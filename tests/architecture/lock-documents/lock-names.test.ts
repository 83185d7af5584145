import { GcsStandIn } from "../../support/gcs-stand-in/gcs-stand-in";
import { InstalledPackage } from "../../support/program/installed-package";
import { describeAtFullSize, describeWithPostgres, describeWithRedis } from "../../support/servers/servers";
import { exportedBy, fileOf, LOCK_ENTRIES, pagesIn, readPage, samplesOf, untold } from "./lock-samples";

jest.setTimeout(180_000);

const names = pagesIn("docs/lock-names");
const samples = [...names, ...pagesIn("docs/coming-from")].flatMap((page) => samplesOf(page, readPage(page)));
const needing = (variable?: string) => samples.filter(({ needs }) => needs === variable);

describe("every public name of the lock toolkit", () => {
  const exported = [...new Set(LOCK_ENTRIES.flatMap((entry) => exportedBy(readPage(`src/${entry}.ts`))))];
  const told = samples.filter(({ page }) => names.includes(page));

  it("has a paragraph beside a sample that uses it and that a test runs", () => {
    expect(exported.length).toBeGreaterThan(120);
    expect(untold(exported, told)).toEqual([]);
  });

  it("would be missed without a paragraph, and without a sample that uses it", () => {
    const planted = exportedBy('export { one, type Two } from "./a"; export type { Three } from "./b";');
    const page =
      "## A\n\n- `one`: told.\n- `Two`: told.\n\n<!-- a test runs this -->\n\n```ts\none();\n```\n";
    expect(planted).toEqual(["one", "Two", "Three"]);
    expect(untold(planted, samplesOf("a.md", page))).toEqual(["Two", "Three"]);
    expect(untold(["one"], samplesOf("a.md", page.replace("a test runs this", "look")))).toEqual(["one"]);
  });
});

describeAtFullSize(
  "a sample of the pages about names and other libraries, in the project of another author",
  () => {
    let installed: InstalledPackage;
    beforeAll(async () => {
      installed = await InstalledPackage.install();
      installed.compileSamples(samples.map((sample) => installed.write(fileOf(sample), sample.code)));
    });
    afterAll(() => installed.remove());

    /** They check themselves, and have nothing to say. */
    const runs = async (variable: string | undefined, url = ""): Promise<void> => {
      const env = variable === undefined ? {} : { [variable]: url };
      for (const sample of needing(variable)) {
        const said = await installed
          .run(fileOf(sample).replace(".mts", ".mjs"), env)
          .catch(({ stderr }: { stderr: string }) => stderr);
        expect([fileOf(sample), said]).toEqual([fileOf(sample), ""]);
      }
    };

    it("has a file of its own, and needs no other server than those that it is given here", () => {
      expect(new Set(samples.map(fileOf)).size).toBe(samples.length);
      const known = [undefined, "DATABASE_URL", "REDIS_URL", "STORAGE_EMULATOR_HOST"];
      expect(samples.filter(({ needs }) => !known.includes(needs))).toEqual([]);
      expect(pagesIn("docs/coming-from").flatMap((page) => samplesOf(page, readPage(page))).length).toBe(3);
    });

    it("runs, where it needs nothing but the package", async () => {
      expect(needing().length).toBeGreaterThan(10);
      await runs(undefined);
    });

    it("runs, where it needs Cloud Storage", async () => {
      const standIn = await GcsStandIn.start({ buckets: ["my-locks"] });
      try {
        await runs("STORAGE_EMULATOR_HOST", standIn.url);
      } finally {
        await standIn.close();
      }
    });

    describeWithPostgres("with a PostgreSQL", (server) => {
      it("runs, where it needs PostgreSQL", () => runs("DATABASE_URL", server.url));
    });

    describeWithRedis("with a Redis", (server) => {
      it("runs, where it needs Redis", () => runs("REDIS_URL", server.url));
    });
  },
);
