import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { openApiDocument } from "../../../src/interfaces/http/openapi/openapi-document";

/** Redocly's findings, but those that are meant: an example of an invalid request, and routes that only redirect. */
function findings(document: object): string[] {
  const found = execFileSync(process.execPath, [join(__dirname, "lint-openapi.mjs")], {
    input: JSON.stringify(document),
    encoding: "utf8",
  });
  return (JSON.parse(found) as string[])
    .filter((one) => !/^no-invalid-media-type-examples at .*\/examples\/invalid\b/.test(one))
    .filter((one) => !/^operation-2xx-response at .*simulated-gateway/.test(one));
}

test("Redocly's linter finds nothing in the OpenAPI document", () => {
  expect(findings(openApiDocument("0.1.0"))).toEqual([]);
});

test("Redocly's linter finds a reference that leads nowhere", () => {
  const document = structuredClone(JSON.parse(JSON.stringify(openApiDocument("0.1.0")))) as {
    components: { schemas: Record<string, unknown> };
  };
  delete document.components.schemas["Captured"];
  expect(findings(document)).toEqual(
    expect.arrayContaining([expect.stringMatching(/^no-unresolved-refs /)]) as string[],
  );
});
