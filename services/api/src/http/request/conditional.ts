/** The entity tags of a header such as `"a", W/"b"`; null for `*`. */
function tagsOf(field: string): readonly { readonly weak: boolean; readonly tag: string }[] | null {
  if (field.trim() === '*') return null;
  return [...field.matchAll(/(W\/)?("[^"]*")/g)].map(([, weak, tag = '']) => ({
    weak: weak !== undefined,
    tag,
  }));
}

/** Whether the client already has this content: If-None-Match, by weak comparison (RFC 9110, 13.1.2). */
export function isKnownToClient(ifNoneMatch: string | undefined, etag: string): boolean {
  if (ifNoneMatch === undefined) return false;
  return tagsOf(ifNoneMatch)?.some(({ tag }) => tag === etag) ?? true;
}

/** Whether the content is what the client expects: If-Match, by strong comparison (RFC 9110, 13.1.1). */
export function matchesPrecondition(ifMatch: string | undefined, etag: string): boolean {
  if (ifMatch === undefined) return true;
  return tagsOf(ifMatch)?.some(({ weak, tag }) => !weak && tag === etag) ?? true;
}

/** The range of content of 10 MiB takes 25 characters. */
const MAX_RANGE_LENGTH = 100;

/** The offsets of the first and the last byte, both inclusive. */
export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

/**
 * The requested range, cut to the size of the content. The whole content is served for a malformed or very
 * long Range, for several ranges (RFC 9110, 14.2 allows both), and when If-Range names other content.
 * range-parser is not used: it rejects a suffix that is longer than the content, for which 14.1.2 requires
 * the whole content.
 */
export function rangeOf(
  { range, ifRange }: { range: string | undefined; ifRange: string | undefined },
  { size, etag }: { size: number; etag: string },
): ByteRange | 'whole' | 'unsatisfiable' {
  if (range === undefined || range.length > MAX_RANGE_LENGTH) return 'whole';
  const [, first = '', last] = range.trim().match(/^bytes\s*=\s*(?:(\d+)\s*)?-\s*(\d*)$/i) ?? [];
  if (last === undefined || (first === '' && last === '')) return 'whole';
  if (ifRange !== undefined && ifRange.trim() !== etag) return 'whole';
  if (first === '') {
    const suffix = Number(last);
    return suffix === 0 || size === 0
      ? 'unsatisfiable'
      : { start: Math.max(0, size - suffix), end: size - 1 };
  }
  const start = Number(first);
  if (last !== '' && Number(last) < start) return 'whole';
  if (start >= size) return 'unsatisfiable';
  return { start, end: last === '' ? size - 1 : Math.min(Number(last), size - 1) };
}
