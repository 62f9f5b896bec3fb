/** A strong entity tag. @param contentHash `sha256:` and 64 hex digits */
export function etagOf(contentHash: string): string {
  return `"${contentHash.slice('sha256:'.length)}"`;
}
