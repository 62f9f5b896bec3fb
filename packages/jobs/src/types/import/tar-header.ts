import { BLOCK_BYTES, SourceRefusedError } from './archive-rules.ts';

const NAME = { start: 0, end: 100 } as const;
const SIZE = { start: 124, end: 136 } as const;
/** Octal digits. */
const CHECKSUM = { start: 148, end: 156 } as const;
const TYPE = 156;
const MAGIC = { start: 257, end: 263 } as const;
const GROUP = { start: 297, end: 329 } as const;
/** The first part of a long name in POSIX headers. GNU headers have times there. */
const PREFIX = { start: 345, end: 500 } as const;

export interface TarHeader {
  readonly name: string;
  /** In bytes. NaN: negative or not a number. */
  readonly size: number;
  /** The type flag. */
  readonly type: string;
  /** The name of the group of a file; empty: none. */
  readonly group: string;
}

export function isZero(bytes: Uint8Array): boolean {
  return bytes.every((byte) => byte === 0);
}

/**
 * Whether this can be the start of a tar: a header with a valid checksum, or the zeros that end an empty tar.
 */
export function isTarHeader(source: Buffer): boolean {
  const block = source.subarray(0, BLOCK_BYTES);
  return block.length === BLOCK_BYTES && (isZero(block) || hasValidChecksum(block));
}

/** @returns null when the checksum is wrong */
export function tarHeader(block: Buffer): TarHeader | null {
  if (!hasValidChecksum(block)) return null;
  const isPosix = block.toString('latin1', MAGIC.start, MAGIC.end) === 'ustar\0';
  const prefix = isPosix ? text(block, PREFIX) : '';
  const name = text(block, NAME);
  const type = String.fromCharCode(block.readUInt8(TYPE));
  return {
    name: prefix === '' ? name : `${prefix}/${name}`,
    size: sizeOf(block.subarray(SIZE.start, SIZE.end)),
    type: type === '\0' ? '0' : type,
    group: isPosix ? text(block, GROUP) : '',
  };
}

/** The text up to the first NUL. */
function textOf(bytes: Buffer): string {
  const end = bytes.indexOf(0);
  return bytes.toString('utf8', 0, end === -1 ? bytes.length : end);
}

function text(block: Buffer, { start, end }: { start: number; end: number }): string {
  return textOf(block.subarray(start, end));
}

/** Octal digits, or for sizes above 8 GiB in GNU tars a binary number after 0x80. */
function sizeOf(field: Buffer): number {
  if (field[0] === 0x80)
    return isZero(field.subarray(1, -6)) ? field.readUIntBE(field.length - 6, 6) : Number.POSITIVE_INFINITY;
  const number = /^[ \0]*(?:([0-7]+)[ \0]*)?$/.exec(field.toString('latin1'));
  if (number === null) return Number.NaN;
  return number[1] === undefined ? 0 : Number.parseInt(number[1], 8);
}

function hasValidChecksum(block: Buffer): boolean {
  const stored = /^ *([0-7]+)/.exec(block.toString('latin1', CHECKSUM.start, CHECKSUM.end))?.[1];
  // The checksum is computed with its own eight bytes as spaces.
  let sum = 0x20 * (CHECKSUM.end - CHECKSUM.start);
  for (let at = 0; at < block.length; at += 1)
    if (at < CHECKSUM.start || at >= CHECKSUM.end) sum += block[at] as number;
  return stored !== undefined && Number.parseInt(stored, 8) === sum;
}

/** The fields of extension headers that are used here. They apply to the next entry. */
export interface TarExtension {
  readonly paxName?: string | undefined;
  readonly gnuName?: string | undefined;
  readonly size?: number | undefined;
  readonly isSparse?: boolean;
}

/**
 * The types of extension headers: pax for one entry (x) and for all entries (g), GNU for a long name (L) and
 * a long link name (K). The global pax header, in which git stores the commit, is ignored.
 */
const EXTENSIONS = new Set(['x', 'g', 'L', 'K']);

export function isExtension({ type }: TarHeader): boolean {
  return EXTENSIONS.has(type);
}

/** @throws SourceRefusedError when it is damaged */
export function tarExtension({ type }: TarHeader, content: Buffer): TarExtension {
  switch (type) {
    case 'x':
      return paxExtension(content);
    case 'L':
      return { gnuName: textOf(content) };
    default:
      return {};
  }
}

function paxExtension(content: Buffer): TarExtension {
  const records = paxRecords(content);
  const size = records.get('size');
  return {
    paxName: records.get('path'),
    size: size === undefined ? undefined : numberOf(size),
    isSparse: [...records.keys()].some((key) => key.startsWith('GNU.sparse.')),
  };
}

/** Each record is `<its length> <key>=<value>\n`. For a repeated key the last record counts. */
function paxRecords(content: Buffer): ReadonlyMap<string, string> {
  const records = new Map<string, string>();
  for (let start = 0; start < content.length;) {
    const [prefix = '', digits] = /^(\d{1,9}) /.exec(content.toString('latin1', start, start + 10)) ?? [];
    const end = start + Number(digits);
    const [key, ...value] = content.toString('utf8', start + prefix.length, end - 1).split('=');
    if (!(end <= content.length) || content[end - 1] !== 0x0a || value.length === 0)
      throw new SourceRefusedError('it has a damaged pax header');
    records.set(key as string, value.join('='));
    start = end;
  }
  return records;
}

/** @returns NaN for anything but digits */
function numberOf(digits: string): number {
  return /^\d+$/.test(digits) ? Number(digits) : Number.NaN;
}
