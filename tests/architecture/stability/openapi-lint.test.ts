import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { openApiDocument } from "../../../src/interfaces/http/openapi/openapi-document";
import { testAtFullSize } from "../../support/servers/servers";

/** Redocly's findings of each document, but those that are meant: an example of an invalid request, and routes that only redirect. */
function findings(...documents: object[]): string[][] {
  const found = execFileSync(process.execPath, [join(__dirname, "lint-openapi.mjs")], {
    input: JSON.stringify(documents),
    encoding: "utf8",
  });
  return (JSON.parse(found) as string[][]).map((all) =>
    all
      .filter((one) => !/^no-invalid-media-type-examples at .*\/examples\/invalid\b/.test(one))
      .filter((one) => !/^operation-2xx-response at .*simulated-gateway/.test(one)),
  );
}

testAtFullSize(
  "Redocly's linter finds nothing in the OpenAPI document, and a reference that leads nowhere in one that has it",
  () => {
    const document = openApiDocument("0.1.0");
    const broken = structuredClone(JSON.parse(JSON.stringify(document))) as {
      components: { schemas: Record<string, unknown> };
    };
    delete broken.components.schemas["Captured"];
    expect(findings(document, broken)).toEqual([
      [],
      expect.arrayContaining([expect.stringMatching(/^no-unresolved-refs /)]),
    ]);
  },
);
