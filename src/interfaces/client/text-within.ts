/** The text of an answer, or null if it has more bytes than that: whoever sends without end must not fill the memory. */
export async function textWithin({ body }: Response, limitBytes: number): Promise<string | null> {
  if (body === null) return "";
  const decoder = new TextDecoder();
  let bytes = 0;
  let text = "";
  // Leaving the loop ends the answer, and its connection.
  for await (const part of body as unknown as AsyncIterable<Uint8Array>) {
    bytes += part.byteLength;
    if (bytes > limitBytes) return null;
    text += decoder.decode(part, { stream: true });
  }
  return text + decoder.decode();
}
