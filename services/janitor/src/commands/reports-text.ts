import { formatMillisecond, formatTable, toOneLine } from '@pasteflow/service-kit';
import type { ReportedPaste } from '@pasteflow/postgres';
import { kindOf } from '@pasteflow/web';
import type { Reported } from '../reports/read-reported.ts';

export function queueText(pastes: readonly ReportedPaste[]): string {
  if (pastes.length === 0) return 'No paste has an open report.\n';
  const rows = pastes.map(({ shortCode, reporters, oldestAt, classes, heldAt }) => [
    shortCode,
    String(reporters),
    formatMillisecond(oldestAt),
    classes.join(', '),
    formatMillisecond(heldAt),
  ]);
  return formatTable(['CODE', '>REPORTERS', 'SINCE', 'REASONS', 'HELD SINCE'], rows);
}

/** The reports of a paste, and the beginning of its content without characters that change a terminal. */
export function reportedText({ paste, reports }: Reported, beginning: Buffer | null): string {
  const rows = reports.map(({ class: why, text, contact, at }) => [
    formatMillisecond(at),
    why,
    contact ?? '-',
    text ?? '-',
  ]);
  return `${formatTable(['AT', 'REASON', 'CONTACT', 'TEXT'], rows)}\n${contentText(paste, beginning)}`;
}

function contentText({ encrypted }: Reported['paste'], beginning: Buffer | null): string {
  if (beginning === null) return 'The paste has no content.\n';
  if (encrypted) return 'The content is encrypted, and nobody can read it without its link.\n';
  if (kindOf(beginning) !== 'text') return `The content is no text: ${kindOf(beginning)}.\n`;
  const lines = beginning.toString().split('\n');
  return `The content begins with:\n${lines.map((line) => `| ${toOneLine(line)}\n`).join('')}`;
}
