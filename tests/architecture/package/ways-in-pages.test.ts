import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Webhook } from "standardwebhooks";
import { InstalledPackage } from "../../support/program/installed-package";
import { HttpWorld } from "../../support/worlds/http-world";
import { projectRoot } from "../planted-project";
import { describeAtFullSize } from "../../support/servers/servers";

jest.setTimeout(180_000);

const samplesOf = (page: string): string[] =>
  [...readFileSync(join(projectRoot, "docs", page), "utf8").matchAll(/```ts\n([\s\S]*?)```/g)].map(
    ([, text]) => text!,
  );
const [calling, keysIn, receiving] = samplesOf("client.md");
const [embedding] = samplesOf("embedding.md");
const secret = `whsec_${Buffer.from("a secret of 24 characters").toString("base64")}`;

describeAtFullSize("the pages about ways in", () => {
  let installed: InstalledPackage;
  let http: HttpWorld;
  beforeAll(async () => {
    installed = await InstalledPackage.install();
    http = await new HttpWorld().open();
    const body = JSON.stringify({ id: "e", type: "payment.captured", data: { payment: { id: "p" } } });
    const headers = {
      "webhook-id": "e",
      "webhook-timestamp": String(Math.floor(Date.now() / 1_000)),
      "webhook-signature": new Webhook(secret).sign("e", new Date(), body),
    };
    installed.compileSamples([
      installed.write("calling.mts", calling!.replace("http://127.0.0.1:8080", http.url)),
      installed.write(
        "keys.mts",
        `${keysIn!}
       const rows = new Map<string, string>();
       const query = async (sql: string, [name, key]: string[]) => {
         if (sql.startsWith("INSERT") && !rows.has(name!)) rows.set(name!, key!);
         return { rows: [{ key: rows.get(name!)! }] };
       };
       const keys = keysIn({ query });
       console.log(await keys.keep("a", "1"), await keys.keep("a", "2"));\n`,
      ),
      installed.write(
        "receiving.mts",
        `${receiving!} received(Buffer.from(${JSON.stringify(body)}), ${JSON.stringify(headers)});\n`,
      ),
      installed.write("embedding.mts", `${embedding!} await holdfast.close();\n`),
    ]);
  });
  afterAll(async () => {
    await http.close();
    installed.remove();
  });

  test.each([
    ["calling", /^captured$/],
    ["keys", /^1 1$/],
    ["receiving", /^payment\.captured p$/],
    ["embedding", /captured$/],
  ])("the sample of %s, as it stands on its page, prints what the page says", async (name, printed) => {
    const output = await installed.run(`${name}.mjs`, { WEBHOOK_SECRET: secret, HOLDFAST_API_KEY: "" });
    expect(output).toMatch(printed);
  });
});
