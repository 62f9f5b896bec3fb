/**
 * The lines that contain a secret: as text, as a JSON string in a JSON string, as hexadecimal digits, as
 * base64 at any of the three alignments, or URL-encoded.
 */
export function findTraces(secret: string, lines: readonly string[]): string[] {
  const needles = formsOf(secret);
  return lines.filter((line) => {
    const lower = line.toLowerCase();
    return needles.some(({ text, caseMatters }) => (caseMatters ? line : lower).includes(text));
  });
}

interface Needle {
  readonly text: string;
  readonly caseMatters: boolean;
}

function formsOf(secret: string): Needle[] {
  const bytes = Buffer.from(secret);
  const loose = [secret, encodeURIComponent(secret), bytes.toString('hex')];
  const exact = [0, 1, 2].flatMap((offset) => [
    insideBase64(bytes, offset),
    toBase64Url(insideBase64(bytes, offset)),
  ]);
  return [
    ...loose.map((text) => ({ text: text.toLowerCase(), caseMatters: false })),
    ...exact.map((text) => ({ text, caseMatters: true })),
  ];
}

/**
 * The characters of the base64 form of a longer text that depend on these bytes alone, which begin at this
 * offset modulo 3.
 */
function insideBase64(bytes: Buffer, offset: number): string {
  const whole = Buffer.concat([Buffer.alloc(offset), bytes])
    .toString('base64')
    .replace(/=+$/, '');
  const first = Math.ceil((offset * 8) / 6);
  const last = Math.floor(((offset + bytes.length) * 8) / 6);
  return whole.slice(first, last);
}

function toBase64Url(text: string): string {
  return text.replaceAll('+', '-').replaceAll('/', '_');
}
