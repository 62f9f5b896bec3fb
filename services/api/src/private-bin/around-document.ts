/**
 * Writes fields around those of a stored document, whose bytes stay as they are: `{` and `}` are its first and its last byte, because only
 * that one form of a document is stored.
 */
export async function* aroundDocument(
  document: Iterable<Buffer> | AsyncIterable<Buffer>,
  { before, after }: { readonly before: object; readonly after: object },
): AsyncGenerator<Buffer> {
  yield Buffer.from(`${JSON.stringify(before).slice(0, -1)},`);
  let isFirst = true;
  let held: Buffer | undefined;
  for await (const chunk of document) {
    if (chunk.length === 0) continue;
    if (held !== undefined) yield held;
    held = isFirst ? chunk.subarray(1) : chunk;
    isFirst = false;
  }
  if (held !== undefined) yield held.subarray(0, -1);
  yield Buffer.from(`,${JSON.stringify(after).slice(1)}`);
}
