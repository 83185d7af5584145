import { resourceOf, type StoredObject } from "./stored-object";

const MAX_PER_PAGE = 1_000;

/** One page of a listing, ordered by name as UTF-8 bytes. The page token names the last object of the page before. */
export function listObjects(
  objects: StoredObject[],
  query: URLSearchParams,
  origin: string,
): Record<string, unknown> {
  const prefix = query.get("prefix") ?? "";
  const delimiter = query.get("delimiter") ?? "";
  const after = query.get("pageToken");
  const last = after === null ? undefined : Buffer.from(after, "base64");
  const limit = Math.min(Number(query.get("maxResults") ?? MAX_PER_PAGE), MAX_PER_PAGE);

  const matching = objects
    .filter((object) => object.name.startsWith(prefix))
    .sort((one, other) => Buffer.compare(Buffer.from(one.name), Buffer.from(other.name)))
    .filter((object) => last === undefined || Buffer.compare(Buffer.from(object.name), last) > 0);
  const page = matching.slice(0, limit);
  const final = page.at(-1);

  const folders = new Set<string>();
  const items = page.filter((object) => {
    const cut = delimiter === "" ? -1 : object.name.indexOf(delimiter, prefix.length);
    if (cut >= 0) folders.add(object.name.slice(0, cut + delimiter.length));
    return cut < 0;
  });
  return {
    kind: "storage#objects",
    ...(items.length === 0 ? {} : { items: items.map((object) => resourceOf(object, origin)) }),
    ...(folders.size === 0 ? {} : { prefixes: [...folders] }),
    ...(matching.length > page.length && final !== undefined
      ? { nextPageToken: Buffer.from(final.name).toString("base64") }
      : {}),
  };
}
