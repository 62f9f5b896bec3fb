/**
 * One line a row, below a line of headings. A column whose heading begins with `>` is aligned to the right.
 */
export function formatTable(headings: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [
    headings.map((heading) => heading.replace(/^>/, '')),
    ...rows.map((row) => row.map(toOneLine)),
  ];
  const widths = headings.map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)));
  const toLine = (line: readonly string[]): string =>
    line
      .map((cell, column) => {
        const width = widths[column] ?? 0;
        return headings[column]?.startsWith('>') === true ? cell.padStart(width) : cell.padEnd(width);
      })
      .join('  ')
      .trimEnd();
  return `${lines.map(toLine).join('\n')}\n`;
}

/**
 * Replaces control and formatting characters with spaces: text from S3, from a job or from a user must not
 * move the terminal's cursor.
 */
export function toOneLine(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ');
}

/** In UTC, to the second: `2026-11-21T12:00:00Z`. */
export function formatSecond(time: Date): string {
  return time.toISOString().replace(/\.\d+Z$/, 'Z');
}

/** In UTC, to the millisecond; `-` for null. */
export function formatMillisecond(time: Date | null): string {
  return time?.toISOString() ?? '-';
}

/** `517 B`, `1.2 KiB`, `34 GiB` */
export function formatBytes(bytes: number): string {
  let value = bytes;
  let unit = 'B';
  for (const next of ['KiB', 'MiB', 'GiB', 'TiB']) {
    if (value < 1024) break;
    value /= 1024;
    unit = next;
  }
  return `${unit === 'B' || value >= 10 ? Math.round(value) : value.toFixed(1)} ${unit}`;
}

/** `0.4 s`, `12 s`, `3 m 20 s`, `4 h`, `2 d 3 h`; `-` for null. */
export function formatDuration(seconds: number | null): string {
  if (seconds === null) return '-';
  if (seconds < 10 && !Number.isInteger(seconds)) return `${seconds.toFixed(1)} s`;
  const whole = Math.round(seconds);
  if (whole < 60) return `${whole} s`;
  if (whole < 3600) return inTwoUnits(whole, [60, 'm'], [1, 's']);
  return whole < 86_400
    ? inTwoUnits(whole, [3600, 'h'], [60, 'm'])
    : inTwoUnits(whole, [86_400, 'd'], [3600, 'h']);
}

type Unit = readonly [seconds: number, name: string];

function inTwoUnits(seconds: number, [large, name]: Unit, [small, rest]: Unit): string {
  const left = Math.floor((seconds % large) / small);
  return `${Math.floor(seconds / large)} ${name}${left === 0 ? '' : ` ${left} ${rest}`}`;
}
