import { SourceRefusedError } from './source-refused.ts';
import { textOf, type TarHeader } from './tar-header.ts';

/** The fields of extension headers that are used here. They apply to the next entry. */
export interface TarExtension {
  readonly paxName?: string | undefined;
  readonly gnuName?: string | undefined;
  readonly size?: number | undefined;
  readonly isSparse?: boolean;
}

/**
 * The types of extension headers: pax for one entry (x) and for all entries (g), GNU for a long name (L) and a long link name (K). The
 * global pax header, in which git stores the commit, is ignored.
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
