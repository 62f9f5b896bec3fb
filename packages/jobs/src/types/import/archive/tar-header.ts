export const BLOCK_BYTES = 512;

/** Where a header has its checksum, as octal digits. */
const CHECKSUM = { start: 148, end: 156 } as const;

export function isZero(bytes: Uint8Array): boolean {
  return bytes.every((byte) => byte === 0);
}

/** Whether a tar may begin so: with a header whose checksum is right, in whatever dialect, or with the zeros that end an empty one. */
export function isTarHeader(source: Buffer): boolean {
  const block = source.subarray(0, BLOCK_BYTES);
  if (block.length < BLOCK_BYTES) return false;
  if (isZero(block)) return true;
  const stored = /^ *([0-7]+)/.exec(block.toString('latin1', CHECKSUM.start, CHECKSUM.end))?.[1];
  // The checksum is taken with its own eight bytes as spaces.
  const sum = block.reduce(
    (all, byte, at) => all + (at >= CHECKSUM.start && at < CHECKSUM.end ? 0x20 : byte),
    0,
  );
  return stored !== undefined && Number.parseInt(stored, 8) === sum;
}
