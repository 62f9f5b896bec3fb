import { crc32, deflateRawSync } from 'node:zlib';

export interface ZipEntry {
  readonly name: string | Buffer;
  /** The extra fields of the record in the directory. */
  readonly extra?: Buffer;
  readonly content?: Buffer | string;
  readonly method?: number;
  readonly flags?: number;
  /** The Unix mode, including the file type. */
  readonly mode?: number;
  /** The bytes after the header, when they should not be the deflated content. */
  readonly data?: Buffer;
  readonly crc?: number;
  readonly size?: number;
  /** The offset of another entry, for an entry without its own data. */
  readonly sharesWith?: number;
}

export interface ZipLies {
  readonly entryCount?: number;
  readonly comment?: string;
}

const DEFLATED = 8;

/** Builds a zip that may be invalid in any way that a test needs. */
export function zipOf(entries: readonly ZipEntry[], lies: ZipLies = {}): Buffer {
  const locals: Buffer[] = [];
  const records: Buffer[] = [];
  const offsets: number[] = [];
  let at = 0;
  for (const entry of entries) {
    const content = Buffer.from(entry.content ?? '');
    const name = Buffer.from(entry.name);
    const method = entry.method ?? DEFLATED;
    const data = entry.data ?? (method === DEFLATED ? deflateRawSync(content) : content);
    const common = Buffer.alloc(26);
    common.writeUInt16LE(20, 0);
    common.writeUInt16LE(entry.flags ?? 0x800, 2);
    common.writeUInt16LE(method, 4);
    common.writeUInt32LE(entry.crc ?? crc32(content), 10);
    common.writeUInt32LE(data.length, 14);
    common.writeUInt32LE(entry.size ?? content.length, 18);
    common.writeUInt16LE(name.length, 22);
    const offset = entry.sharesWith === undefined ? at : (offsets[entry.sharesWith] as number);
    offsets.push(offset);
    if (entry.sharesWith === undefined) {
      const local = Buffer.concat([Buffer.from('PK\x03\x04', 'latin1'), common, name, data]);
      locals.push(local);
      at += local.length;
    }
    const tail = Buffer.alloc(14);
    tail.writeUInt32LE(((entry.mode ?? 0o100644) << 16) >>> 0, 6);
    tail.writeUInt32LE(offset, 10);
    const extra = entry.extra ?? Buffer.alloc(0);
    common.writeUInt16LE(extra.length, 24); // the local header is written already
    records.push(Buffer.concat([Buffer.from('PK\x01\x02\x14\x03', 'latin1'), common, tail, name, extra]));
  }
  const directory = Buffer.concat(records);
  const comment = Buffer.from(lies.comment ?? '');
  const end = Buffer.alloc(22);
  end.write('PK\x05\x06', 'latin1');
  end.writeUInt16LE((lies.entryCount ?? entries.length) & 0xffff, 8);
  end.writeUInt16LE((lies.entryCount ?? entries.length) & 0xffff, 10);
  end.writeUInt32LE(directory.length, 12);
  end.writeUInt32LE(at, 16);
  end.writeUInt16LE(comment.length, 20);
  return Buffer.concat([...locals, directory, end, comment]);
}
