/** A line a row, under a line of headings. Right-aligned are the columns whose heading begins with `>`. */
export function columns(headings: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [
    headings.map((heading) => heading.replace(/^>/, '')),
    ...rows.map((row) => row.map(oneLine)),
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

/** Reasons hold what S3 or a user's job said: nothing of that may move a terminal. */
export function oneLine(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ');
}

/** To the millisecond, in UTC. */
export function instant(time: Date | null): string {
  return time?.toISOString() ?? '-';
}

/** `0.4 s`, `12 s`, `3 m 20 s`, `4 h`, `2 d 3 h`. */
export function duration(seconds: number | null): string {
  if (seconds === null) return '-';
  if (seconds < 10 && !Number.isInteger(seconds)) return `${seconds.toFixed(1)} s`;
  const whole = Math.round(seconds);
  if (whole < 60) return `${whole} s`;
  if (whole < 3600) return inTwo(whole, [60, 'm'], [1, 's']);
  return whole < 86_400 ? inTwo(whole, [3600, 'h'], [60, 'm']) : inTwo(whole, [86_400, 'd'], [3600, 'h']);
}

type Unit = readonly [seconds: number, name: string];

function inTwo(seconds: number, [large, name]: Unit, [small, rest]: Unit): string {
  const left = Math.floor((seconds % large) / small);
  return `${Math.floor(seconds / large)} ${name}${left === 0 ? '' : ` ${left} ${rest}`}`;
}
