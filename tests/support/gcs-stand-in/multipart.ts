import { invalid } from "./google-error";

/** The two parts of a `multipart/related` upload: the resource's JSON, then the content. */
export function parseMultipart(contentType: string, body: Buffer) {
  const boundary = /boundary=(?:"([^"]+)"|([^;\s]+))/.exec(contentType);
  const mark = boundary?.[1] ?? boundary?.[2];
  if (mark === undefined) throw invalid("Missing multipart boundary.");

  const parts: { headers: string; content: Buffer }[] = [];
  let start = body.indexOf(`--${mark}\r\n`);
  while (start >= 0) {
    const from = start + mark.length + 4;
    const end = body.indexOf(`\r\n--${mark}`, from);
    const head = body.indexOf("\r\n\r\n", from);
    if (end < 0 || head < 0 || head > end) throw invalid("Malformed multipart body.");
    parts.push({ headers: body.toString("latin1", from, head), content: body.subarray(head + 4, end) });
    // The closing mark has two dashes where the others have a line break, so it is not found here.
    start = body.indexOf(`--${mark}\r\n`, end + 2);
  }
  const [resource, media] = parts;
  if (parts.length !== 2 || resource === undefined || media === undefined)
    throw invalid("Multipart upload needs exactly two parts.");
  return {
    resource: resourceFields(resource.content.toString("utf8")),
    content: media.content,
    contentType: /^content-type:\s*(.+?)\s*$/im.exec(media.headers)?.[1],
  };
}

/** The fields of an uploaded resource that the stand-in keeps. */
export function resourceFields(json: string) {
  let parsed: unknown;
  try {
    parsed = JSON.parse(json === "" ? "{}" : json);
  } catch {
    throw invalid("Parse Error");
  }
  return parsed as {
    readonly name?: string;
    readonly contentType?: string;
    readonly metadata?: Record<string, string>;
    readonly md5Hash?: string;
    readonly crc32c?: string;
  };
}
