import { constants, crc32, deflateRawSync, gzipSync } from 'node:zlib';
import { blocksOf, TAR_END, tarGzOf } from './tar.ts';
import { zipOf } from './zip.ts';

const MIB = 1024 * 1024;
const ZEROS = Buffer.alloc(64 * MIB);

/** A tar.gz of one file of so many times 64 MiB of zeros: a thousandth of that long, of several gzip members. */
export function gzipBomb(times: number): Buffer {
  // Beyond 8 GiB the size has no room as octal digits; base 256 is GNU's way.
  const [header] = blocksOf({ name: 'zeros', size: 0 }) as [Buffer];
  header.writeUInt8(0x80, 124);
  header.fill(0, 125, 136);
  header.writeUIntBE(times * ZEROS.length, 130, 6);
  header.write('        ', 148);
  header.write(
    `${header
      .reduce((sum, byte) => sum + byte, 0)
      .toString(8)
      .padStart(6, '0')}\0 `,
    148,
  );
  const piece = gzipSync(ZEROS);
  return Buffer.concat([gzipSync(header), ...Array.from({ length: times }, () => piece), gzipSync(TAR_END)]);
}

/** A tar.gz of one small file and, behind its end, as many zeros, as tapes have them. */
export function paddingBomb(times: number): Buffer {
  const piece = gzipSync(ZEROS);
  return Buffer.concat([
    tarGzOf([{ name: 'good.txt', content: 'good' }]),
    ...Array.from({ length: times }, () => piece),
  ]);
}

/** A zip of one file that says it has a kilobyte and inflates to so many times 64 MiB. */
export function zipBomb(times: number): Buffer {
  const piece = deflateRawSync(ZEROS, { finishFlush: constants.Z_FULL_FLUSH });
  const data = Buffer.concat([
    ...Array.from({ length: times }, () => piece),
    deflateRawSync(Buffer.alloc(0)),
  ]);
  return zipOf([{ name: 'zeros', data, size: 1024, crc: crc32(Buffer.alloc(1024)) }]);
}

/** A zip whose entries are all the same data: 64 MiB each, of 64 KiB in all. */
export function overlappingBomb(entries: number): Buffer {
  const kernel = { name: '0', data: deflateRawSync(ZEROS), size: ZEROS.length, crc: crc32(ZEROS) };
  return zipOf([
    kernel,
    ...Array.from({ length: entries - 1 }, (_, n) => ({ ...kernel, name: String(n + 1), sharesWith: 0 })),
  ]);
}
