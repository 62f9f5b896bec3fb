import { constants, crc32, deflateRawSync, gzipSync } from 'node:zlib';
import { blocksOf, TAR_END, tarGzOf } from './tar.ts';
import { zipOf } from './zip.ts';

const MIB = 1024 * 1024;
const ZEROS = Buffer.alloc(64 * MIB);

/**
 * A tar.gz with one file of `times` × 64 MiB of zeros in several gzip members. Its size is a thousandth of
 * that.
 */
export function gzipBomb(times: number): Buffer {
  // Sizes above 8 GiB do not fit into the octal digits. GNU tar stores them in base 256.
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

/** A tar.gz with one small file, and after its end as many zeros, as on tapes. */
export function paddingBomb(times: number): Buffer {
  const piece = gzipSync(ZEROS);
  return Buffer.concat([
    tarGzOf([{ name: 'good.txt', content: 'good' }]),
    ...Array.from({ length: times }, () => piece),
  ]);
}

/** A zip with one file that states a size of 1 KiB and inflates to a multiple of 64 MiB. */
export function zipBomb(times: number): Buffer {
  const piece = deflateRawSync(ZEROS, { finishFlush: constants.Z_FULL_FLUSH });
  const data = Buffer.concat([
    ...Array.from({ length: times }, () => piece),
    deflateRawSync(Buffer.alloc(0)),
  ]);
  return zipOf([{ name: 'zeros', data, size: 1024, crc: crc32(Buffer.alloc(1024)) }]);
}

/** A zip whose entries share the same data: 64 MiB each, 64 KiB in total. */
export function overlappingBomb(entries: number): Buffer {
  const kernel = { name: '0', data: deflateRawSync(ZEROS), size: ZEROS.length, crc: crc32(ZEROS) };
  return zipOf([
    kernel,
    ...Array.from({ length: entries - 1 }, (_, n) => ({ ...kernel, name: String(n + 1), sharesWith: 0 })),
  ]);
}
