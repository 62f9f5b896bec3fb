/** How the object of a paste may be compressed. The names are those of HTTP's Content-Encoding. */
export const contentEncodings = ['gzip'] as const;
export type ContentEncoding = (typeof contentEncodings)[number];

/** @returns null when the field is missing or names no known encoding: the bytes are used as they are */
export function contentEncodingOf(field: string | undefined): ContentEncoding | null {
  return contentEncodings.find((each) => each === field?.trim().toLowerCase()) ?? null;
}
