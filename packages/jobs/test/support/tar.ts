import { gzipSync } from 'node:zlib';

export interface TarEntry {
  readonly name: string;
  readonly content?: Buffer | string;
  /**
   * The type flag: '0' a file, '1' a hard link, '2' a symbolic one, '3' to '6' devices and folders, 'x' pax,
   * 'L' a long name.
   */
  readonly type?: string;
  readonly linkname?: string;
  /** The first part of a long name in ustar. */
  readonly prefix?: string;
  /** The size stated in the header, when it should differ from the content. */
  readonly size?: number;
}

const BLOCK = 512;
export const TAR_END = Buffer.alloc(2 * BLOCK);

/** Builds a tar that may be invalid in any way that a test needs. */
export function tarOf(entries: readonly TarEntry[], end: Buffer = TAR_END): Buffer {
  return Buffer.concat([...entries.flatMap(blocksOf), end]);
}

export const tarGzOf = (entries: readonly TarEntry[]): Buffer => gzipSync(tarOf(entries));

/** The content of a pax header: records that start with their length. */
export function paxRecords(records: Readonly<Record<string, string>>): string {
  return Object.entries(records)
    .map(([key, value]) => {
      const rest = ` ${key}=${value}\n`;
      const bytes = Buffer.byteLength(rest);
      let length = bytes;
      while (String(length).length + bytes !== length) length = String(length).length + bytes;
      return `${length}${rest}`;
    })
    .join('');
}

export function blocksOf({
  name,
  content = '',
  type = '0',
  linkname = '',
  prefix = '',
  size,
}: TarEntry): Buffer[] {
  const bytes = Buffer.from(content);
  const header = Buffer.alloc(BLOCK);
  header.write(name, 0, 100);
  header.write('0000644\0', 100);
  header.write('0000000\0', 108);
  header.write('0000000\0', 116);
  header.write(`${(size ?? bytes.length).toString(8).padStart(11, '0')}\0`, 124);
  header.write('00000000000\0', 136);
  header.write('        ', 148);
  header.write(type, 156);
  header.write(linkname, 157, 100);
  header.write('ustar\x0000', 257, 'latin1');
  header.write(prefix, 345, 155);
  header.write(
    `${header
      .reduce((sum, byte) => sum + byte, 0)
      .toString(8)
      .padStart(6, '0')}\0 `,
    148,
  );
  return [header, bytes, Buffer.alloc((BLOCK - (bytes.length % BLOCK)) % BLOCK)];
}
