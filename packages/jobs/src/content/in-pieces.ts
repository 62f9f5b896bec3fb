/** Slices of `content` of up to `bytes` each, without copies: a consumer that was given all of it would keep or inflate it in one go. */
export function* inPieces(content: Buffer, bytes: number): Generator<Buffer> {
  for (let start = 0; start < content.length; start += bytes) yield content.subarray(start, start + bytes);
}
