/** Chromium's Accept has 135 characters. */
const MAX_LENGTH = 1000;

/**
 * The values of a header such as Accept or Accept-Encoding, in lower case, with their qualities (RFC 9110, 12.4.2). A malformed quality
 * counts as 0, and a very long header as empty.
 */
export function qualitiesOf(header: string | undefined): ReadonlyMap<string, number> {
  if (header === undefined || header.length > MAX_LENGTH) return new Map();
  return new Map(header.split(',').map(readValue));
}

function readValue(text: string): readonly [value: string, quality: number] {
  const [value = '', ...parameters] = text.split(';').map((part) => part.trim().toLowerCase());
  const quality = parameters.find((parameter) => parameter.startsWith('q='));
  if (quality === undefined) return [value, 1];
  return [
    value,
    /^(?:0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/.test(quality.slice(2)) ? Number(quality.slice(2)) : 0,
  ];
}
