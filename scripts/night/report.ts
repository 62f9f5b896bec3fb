import type { GitHub } from './github.ts';

/**
 * A branch without the sources, because artifacts are deleted after 90 days, and a commit to main for each
 * night would bury the others.
 */
const BRANCH = 'nights';
const FILE = 'nights.jsonl';
const LAST_LINES = 60;
/** An issue has at most 65,536 characters. */
const LAST_CHARACTERS = 30_000;

/** Appends a line for each record to the file that says which seeds ran. */
export async function appendRecords(github: GitHub, records: readonly object[]): Promise<void> {
  const head = await github.find<{ object: { sha: string } }>(`/git/ref/heads/${BRANCH}`);
  const before = head === undefined ? '' : await github.read(`/contents/${FILE}?ref=${BRANCH}`);
  const content = before + records.map((record) => `${JSON.stringify(record)}\n`).join('');
  const tree = await github.send<{ sha: string }>('POST', '/git/trees', {
    tree: [{ path: FILE, mode: '100644', type: 'blob', content }],
  });
  const commit = await github.send<{ sha: string }>('POST', '/git/commits', {
    message: `Record the proofs of ${new Date().toISOString().slice(0, 10)}`,
    tree: tree.sha,
    parents: head === undefined ? [] : [head.object.sha],
  });
  if (head === undefined)
    await github.send('POST', '/git/refs', { ref: `refs/heads/${BRANCH}`, sha: commit.sha });
  else await github.send('PATCH', `/git/refs/heads/${BRANCH}`, { sha: commit.sha });
}

export interface Failure {
  readonly proof: string;
  readonly outcome: string;
  /** Empty: it did not begin. */
  readonly command: string;
  readonly commit: string;
  readonly run: string;
  readonly log: string;
}

/** Opens an issue, or comments on the one of an earlier night that is still open. */
export async function tell(github: GitHub, failure: Failure): Promise<void> {
  const title = `At night: ${failure.proof} fails`;
  // Only what the workflow has opened: otherwise anybody could prevent an issue by opening one of this title.
  const creator = encodeURIComponent('github-actions[bot]');
  const open = await github.get<{ number: number; title: string }[]>(
    `/issues?state=open&creator=${creator}&per_page=100`,
  );
  const same = open.find((issue) => issue.title === title);
  const body = bodyOf(failure);
  if (same === undefined) await github.send('POST', '/issues', { title, body });
  else await github.send('POST', `/issues/${same.number}/comments`, { body });
}

function bodyOf({ proof, outcome, command, commit, run, log }: Failure): string {
  const lines = log.trimEnd().split('\n').slice(-LAST_LINES).join('\n').slice(-LAST_CHARACTERS);
  const parts = [
    `The proof \`${proof}\` of ${commit} ${outcome}. [The run](${run}) has its log and its history as the artifact \`night-${proof}\`, for 90 days.`,
  ];
  if (command !== '') parts.push(`Repeat it with\n\n\`\`\`\n${command}\n\`\`\``);
  if (lines !== '') parts.push(`The end of the log:\n\n${fenced(lines)}`);
  return parts.join('\n\n');
}

/** Whatever the lines have. */
function fenced(lines: string): string {
  const longest = Math.max(2, ...[...lines.matchAll(/`+/g)].map(([ticks]) => ticks.length));
  const fence = '`'.repeat(longest + 1);
  return `${fence}\n${lines}\n${fence}`;
}
