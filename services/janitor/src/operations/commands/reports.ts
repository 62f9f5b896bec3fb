import { isShortCode } from '@pasteflow/domain';
import { listReported, type Database, type ReportedPaste } from '@pasteflow/postgres';
import {
  asJson,
  type CommandResult,
  EXIT_FAILED,
  failed,
  formatMillisecond,
  formatTable,
  misused,
  succeeded,
  toOneLine,
} from '@pasteflow/service-kit';
import { codeOrId } from '../actions/subjects.ts';
import { counted } from '../reports/counted.ts';
import {
  readBeginning,
  readFileBeginnings,
  type FileBeginning,
  readReported,
  type Beginning,
  type ContentSources,
  type Reported,
} from '../reports/read-reported.ts';
import type { OwnCommand } from './command.ts';

/** All pastes with open reports, or the reports of one by its short code. */
export const reports: OwnCommand<{ readonly of: string | null }> = {
  name: 'reports',
  takes: '[CODE]',
  help: 'lists the pastes with open reports; with CODE shows the reports of a paste, and how its content begins',
  read: (args) => {
    const [text, ...more] = args;
    const of = text === undefined ? null : codeOrId(text, isShortCode);
    return more.length > 0 || (text !== undefined && of === null)
      ? misused('reports takes no argument, or the short code of a paste')
      : { of };
  },
  run: async (operations, { of, json }) =>
    of === null ? await showQueue(operations.db, json) : await showReports(operations, of, json),
};

/** Pastes that one statement reads. */
const REPORTED_BATCH = 1000;

/** All pastes with open reports, those that have waited longest first. */
async function showQueue(db: Database, json: boolean): Promise<CommandResult> {
  const pastes: ReportedPaste[] = [];
  for (let after: string | null | undefined; after !== null;) {
    const page = await listReported(db, {
      by: 'age',
      limit: REPORTED_BATCH,
      ...(after !== undefined && { after }),
    });
    pastes.push(...page.pastes);
    after = page.next;
  }
  if (!json) return succeeded(queueText(pastes));
  const shown = pastes.map(({ id: _id, shortCode, userId, oldestAt, heldAt, ...paste }) => ({
    short_code: shortCode,
    ...paste,
    user_id: userId,
    oldest_at: oldestAt,
    held_at: heldAt,
  }));
  return succeeded(asJson(shown));
}

/** How much of a content a terminal shows. */
const SHOWN_BYTES = 2048;

async function showReports(
  { db, store }: ContentSources,
  code: string,
  json: boolean,
): Promise<CommandResult> {
  const reported = await readReported(db, code);
  if (reported === null) return failed(EXIT_FAILED, `ops: ${code} has no open report\n`);
  if (json) return succeeded(asJson(reported.reports));
  const { paste } = reported;
  const content =
    paste.files === null
      ? contentText(await readBeginning({ db, store }, paste, SHOWN_BYTES))
      : (await readFileBeginnings({ db, store }, paste, paste.files, SHOWN_BYTES)).map(fileText).join('\n');
  return succeeded(reportedText(reported, content));
}

function queueText(pastes: readonly ReportedPaste[]): string {
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
function reportedText({ paste, reports }: Reported, content: string): string {
  const rows = reports.map(({ class: why, text, contact, at }) => [
    formatMillisecond(at),
    why,
    contact ?? '-',
    text ?? '-',
  ]);
  const title = paste.title === null ? '' : `Title: ${toOneLine(paste.title)}\n`;
  return `${formatTable(['AT', 'REASON', 'CONTACT', 'TEXT'], rows)}\n${title}${content}`;
}

function fileText({ name, size, content }: FileBeginning): string {
  return `File: ${toOneLine(name)}, ${counted(size, 'byte')}\n${contentText(content)}`;
}

const hidden = {
  missing: 'The paste has no content.',
  encrypted: 'The content is encrypted, and nobody can read it without its link.',
  'not text': 'The content is no text.',
  unreadable: 'The content cannot be read now',
  'too far behind': 'It stands too far behind in the content to be shown here.',
} as const;

function contentText(content: Beginning): string {
  if ('hidden' in content)
    return `${hidden[content.hidden]}${content.error === undefined ? '' : `: ${toOneLine(content.error)}`}\n`;
  const lines = content.text.split('\n');
  return `The content begins with:\n${lines.map((line) => `| ${toOneLine(line)}\n`).join('')}`;
}
