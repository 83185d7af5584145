export function openApiDocument(version: string): object {
  return { openapi: "3.1.1", info: { title: "Holdfast", version } };
}
