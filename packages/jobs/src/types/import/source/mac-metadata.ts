import type { ArchiveFile } from './archived-file.ts';

/** The first bytes of an AppleDouble file, in which macOS keeps attributes of the file beside it. */
const APPLE_DOUBLE = Buffer.from([0x00, 0x05, 0x16, 0x07]);

/** Whether macOS has added this file to the archive. Nobody wants a paste of it. */
export function isMacMetadata({ name, content }: ArchiveFile): boolean {
  const file = name.slice(name.lastIndexOf('/') + 1);
  if (file === '.DS_Store' || name.startsWith('__MACOSX/')) return true;
  return file.startsWith('._') && content?.subarray(0, APPLE_DOUBLE.length).equals(APPLE_DOUBLE) === true;
}
