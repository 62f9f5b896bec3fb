import { formatMillisecond, formatTable, toOneLine } from '@pasteflow/service-kit';
import type { ReportedPaste } from '@pasteflow/postgres';
import type { Beginning, Reported } from '../reports/read-reported.ts';

export function queueText(pastes: readonly ReportedPaste[]): string {
  if (pastes.length === 0) return 'No paste has an open report.\n';
  const rows = pastes.map(({ shortCode, reporters, oldestAt, classes, heldAt, network, title }) => [
    shortCode,
    String(reporters),
    formatMillisecond(oldestAt),
    classes.join(', '),
    formatMillisecond(heldAt),
    network,
    toOneLine(title ?? '-'),
  ]);
  const table = formatTable(
    ['CODE', '>REPORTERS', 'SINCE', 'REASONS', 'HELD SINCE', 'FIRST BY', 'TITLE'],
    rows,
  );
  return `${table}${pastes.length} in all.\n`;
}

/** The reports of a paste, its title and how it begins, without characters that change a terminal. */
export function reportedText({ paste, reports }: Reported, content: Beginning): string {
  const rows = reports.map(({ class: why, text, contact, at }) => [
    formatMillisecond(at),
    why,
    contact ?? '-',
    text ?? '-',
  ]);
  const title = paste.title === null ? '' : `Title: ${toOneLine(paste.title)}\n`;
  return `${formatTable(['AT', 'REASON', 'CONTACT', 'TEXT'], rows)}\n${title}${contentText(content)}`;
}

const hidden = {
  missing: 'The paste has no content.',
  encrypted: 'The content is encrypted, and nobody can read it without its link.',
  'not text': 'The content is no text.',
  unreadable: 'The content cannot be read now',
} as const;

function contentText(content: Beginning): string {
  if ('hidden' in content)
    return `${hidden[content.hidden]}${content.error === undefined ? '' : `: ${toOneLine(content.error)}`}\n`;
  const lines = content.text.split('\n');
  return `The content begins with:\n${lines.map((line) => `| ${toOneLine(line)}\n`).join('')}`;
}
