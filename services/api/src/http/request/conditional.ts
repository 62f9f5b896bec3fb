/** Entity tags of a field like `"a", W/"b"`; null for `*`. */
function tagsOf(field: string): readonly { readonly weak: boolean; readonly tag: string }[] | null {
  if (field.trim() === '*') return null;
  return [...field.matchAll(/(W\/)?("[^"]*")/g)].map(([, weak, tag = '']) => ({
    weak: weak !== undefined,
    tag,
  }));
}

/** If-None-Match, by weak comparison: whether the client has this content already (RFC 9110, 13.1.2). */
export function isKnownToClient(ifNoneMatch: string | undefined, etag: string): boolean {
  if (ifNoneMatch === undefined) return false;
  return tagsOf(ifNoneMatch)?.some(({ tag }) => tag === etag) ?? true;
}

/** If-Match, by strong comparison (RFC 9110, 13.1.1). */
export function matchesPrecondition(ifMatch: string | undefined, etag: string): boolean {
  if (ifMatch === undefined) return true;
  return tagsOf(ifMatch)?.some(({ weak, tag }) => !weak && tag === etag) ?? true;
}

/** First and last byte, both included. */
export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

/**
 * The one range that is asked for, cut to the content's size. What is malformed or names several ranges gets
 * the whole (RFC 9110, 14.2 allows it), and so does a Range whose If-Range names other content. range-parser
 * is not used: it takes a suffix longer than the content as unsatisfiable, where 14.1.2 wants the whole.
 */
export function rangeOf(
  { range, ifRange }: { range: string | undefined; ifRange: string | undefined },
  { size, etag }: { size: number; etag: string },
): ByteRange | 'whole' | 'unsatisfiable' {
  const [, first, last] = range?.trim().match(/^bytes\s*=\s*(\d*)\s*-\s*(\d*)$/i) ?? [];
  if (first === undefined || last === undefined || (first === '' && last === '')) return 'whole';
  if (ifRange !== undefined && ifRange.trim() !== etag) return 'whole';
  if (first === '') {
    const suffix = Number(last);
    return suffix === 0 ? 'unsatisfiable' : { start: Math.max(0, size - suffix), end: size - 1 };
  }
  const start = Number(first);
  if (last !== '' && Number(last) < start) return 'whole';
  if (start >= size) return 'unsatisfiable';
  return { start, end: last === '' ? size - 1 : Math.min(Number(last), size - 1) };
}
