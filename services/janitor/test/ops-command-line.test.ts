import { describe, expect, it } from '@jest/globals';
import { actions } from '../src/operations/actions/actions.ts';
import { parseOpsCommand, usage } from '../src/operations/commands/command-line.ts';
import { runOpsCommand } from '../src/operations/commands/run-ops-command.ts';

const RETRY_TAKES =
  'retry takes the short code of a paste, the id of a job, or --all-failed-since with a time such as 2026-11-22T04:00Z';
const ADD_TAKES = 'add-webhook takes a URL, and one or more of the events report.opened and upload.failed';
const hash = 'a'.repeat(63) + '7';
const YES_IS_FOR = '--yes is only for adopt-bucket, erase, retry --all-failed-since and takedown --user';
/** The id of a request for secrets. */
const request = '3mVxQ9bTr5LkW2hYc8NfZd';
const id = '019523b5-3c4d-7e6f-8a9b-0c1d2e3f4a5b';

const act = { kind: 'act', class: 'other', reason: null, json: false };

describe('the command line of ops', () => {
  it.each([
    ['status', { kind: 'status', json: false }],
    ['--json status', { kind: 'status', json: true }],
    ['timeline 8Jk2xQw0Zc', { kind: 'timeline', of: '8Jk2xQw0Zc', json: false }],
    ['timeline http://127.0.0.1:3000/8Jk2xQw0Zc --json', { kind: 'timeline', of: '8Jk2xQw0Zc', json: true }],
    [`timeline ${id.toUpperCase()}`, { kind: 'timeline', of: id, json: false }],
    ['retry-dead-letters', { ...act, action: 'retry-dead-letters', subject: '' }],
    [
      'retry 8Jk2xQw0Zc --reason because',
      { ...act, action: 'retry', subject: '8Jk2xQw0Zc', reason: 'because' },
    ],
    [
      'retry --all-failed-since 2026-11-22T04:00Z',
      { kind: 'count', action: 'retry-failed', subject: 'since 2026-11-22T04:00:00.000Z', json: false },
    ],
    [
      'retry --all-failed-since 2026-11-22T04:00Z --yes',
      { ...act, action: 'retry-failed', subject: 'since 2026-11-22T04:00:00.000Z' },
    ],
    [
      `close-request https://paste.example.org/requests/${request}#BK/ey_- --reason phishing`,
      { ...act, action: 'close-request', subject: request, reason: 'phishing' },
    ],
    ['invite anna', { kind: 'invite', userName: 'anna', endsAll: false, json: false }],
    ['invite anna --end-tokens', { kind: 'invite', userName: 'anna', endsAll: true, json: false }],
    [`timeline ${request}`, { kind: 'timeline', of: request, json: false }],
    [`cancel ${id} --reason stop`, { ...act, action: 'cancel-job', subject: id, reason: 'stop' }],
    [
      'takedown https://paste.example.org/8Jk2xQw0Zc --reason x --class spam',
      { ...act, action: 'takedown', subject: '8Jk2xQw0Zc', class: 'spam', reason: 'x' },
    ],
    [
      `takedown --user ${id} --reason spam`,
      { kind: 'count', action: 'takedown-user', subject: id, json: false },
    ],
    [
      `takedown --user ${id} --reason spam --yes --json`,
      { ...act, action: 'takedown-user', subject: id, reason: 'spam', json: true },
    ],
    [
      `block ${hash.toUpperCase()} --reason x --class malware`,
      { ...act, action: 'block', subject: `sha256:${hash}`, class: 'malware', reason: 'x' },
    ],
    [
      `unblock sha256:${hash} --reason x`,
      { ...act, action: 'unblock', subject: `sha256:${hash}`, reason: 'x' },
    ],
    ['block 8Jk2xQw0Zc --reason x', { ...act, action: 'block', subject: '8Jk2xQw0Zc', reason: 'x' }],
    ['blocks', { kind: 'blocks', json: false }],
    ['pauses', { kind: 'pauses', json: false }],
    ['pause export --reason because', { ...act, action: 'pause', subject: 'export', reason: 'because' }],
    ['resume export', { ...act, action: 'resume', subject: 'export' }],
    [`retry ${id}`, { ...act, action: 'retry-job', subject: id }],
    ['reports', { kind: 'reports', of: null, json: false }],
    ['reports 8Jk2xQw0Zc --json', { kind: 'reports', of: '8Jk2xQw0Zc', json: true }],
    [
      'uphold 8Jk2xQw0Zc --reason x --class spam --end-tokens --block',
      {
        ...act,
        action: 'uphold',
        subject: '8Jk2xQw0Zc',
        class: 'spam',
        reason: 'x',
        also: ['block', 'end-tokens'],
      },
    ],
    ['reject 8Jk2xQw0Zc --reason x', { ...act, action: 'reject', subject: '8Jk2xQw0Zc', reason: 'x' }],
    [
      `--yes takedown --user ${id.toUpperCase()} --reason spam`,
      { ...act, action: 'takedown-user', subject: id, reason: 'spam' },
    ],
    [
      '--reason=-x --class spam takedown 8Jk2xQw0Zc',
      { ...act, action: 'takedown', subject: '8Jk2xQw0Zc', class: 'spam', reason: '-x' },
    ],
    ['adopt-bucket --yes', { kind: 'adopt-bucket', yes: true, json: false }],
    ['users anna', { kind: 'users', text: 'anna', limit: 50, after: null, json: false }],
    [
      'pastes notes --state failed --owner anna --limit 7',
      {
        kind: 'pastes',
        title: 'notes',
        state: 'failed',
        owner: 'anna',
        page: { limit: 7, after: null },
        json: false,
      },
    ],
    [
      'jobs --state queued --type export',
      {
        kind: 'jobs',
        status: 'queued',
        jobType: 'export',
        owner: null,
        page: { limit: 50, after: null },
        json: false,
      },
    ],
    ['workers', { kind: 'workers', of: null, json: false }],
    ['erasures --open', { kind: 'erasures', since: null, open: true, json: false }],
    ['webhooks', { kind: 'webhooks', json: false }],
    [
      'add-webhook https://hooks.example.org/x upload.failed report.opened',
      {
        kind: 'add-webhook',
        url: 'https://hooks.example.org/x',
        events: ['report.opened', 'upload.failed'],
        json: false,
      },
    ],
    [
      `switch-off-webhook ${id.toUpperCase()} --reason spam`,
      { ...act, action: 'switch-off-webhook', subject: id, reason: 'spam' },
    ],
    [`remove-webhook ${id}`, { ...act, action: 'remove-webhook', subject: id }],
    ['restore-objects', { kind: 'restore-objects', deletedSince: null, json: false }],
    ['--help', { kind: 'help' }],
  ])('understands %s', (line, command) => {
    expect(parseOpsCommand(line.split(' '))).toEqual(command);
  });

  it.each([
    ['', 'the command is missing'],
    ['restart', '"restart" is not a command'],
    ['status now', 'status takes no further arguments'],
    ['timeline', 'timeline takes the short code of a paste, or the id of a job'],
    ['timeline a b', 'timeline takes the short code of a paste, or the id of a job'],
    ['timeline not-a-code', 'timeline takes the short code of a paste, or the id of a job'],
    ['retry', RETRY_TAKES],
    ['retry a b', RETRY_TAKES],
    ['retry abc --all-failed-since 2026-11-22', RETRY_TAKES],
    ['retry --all-failed-since yesterday', RETRY_TAKES],
    ['retry abc --yes', YES_IS_FOR],
    ['status --yes', YES_IS_FOR],
    ['status --all-failed-since 2026-11-22', '--all-failed-since is only for retry'],
    [
      'timeline abc --reason x',
      '--reason is only for retry, cancel, takedown, close-request, switch-off-webhook, switch-on-webhook, remove-webhook, block, unblock, uphold, reject, pause, resume',
    ],
    ['takedown abc', 'takedown needs --reason with a text'],
    ['takedown abc --reason= ', 'takedown needs --reason with a text'],
    ['takedown abc --reason x --class rude', '--class is one of illegal, copyright,'],
    [
      `takedown ${id} --reason x`,
      'takedown takes the short code of a paste, or --user with the id of a user',
    ],
    [`takedown abc --user ${id} --reason x`, 'takedown takes the short code of a paste, or --user'],
    ['takedown --user bob --reason x', 'takedown takes the short code of a paste, or --user'],
    ['takedown abc --reason x --yes', YES_IS_FOR],
    [`block ${id} --reason x`, 'block takes a SHA-256 in hex, or the short code of a paste'],
    ['unblock abc --reason x --class spam', '--class is only for takedown, block and uphold'],
    [`retry --user ${id}`, '--user is only for takedown'],
    ['add-webhook', ADD_TAKES],
    ['add-webhook https://hooks.example.org', ADD_TAKES],
    ['add-webhook https://hooks.example.org paste.stored', ADD_TAKES],
    ['add-webhook https://hooks.example.org report.opened nothing', ADD_TAKES],
    [`switch-off-webhook ${id}`, 'switch-off-webhook needs --reason with a text'],
    ['remove-webhook abc', 'remove-webhook takes the id of an endpoint of a webhook'],
    ['blocks now', 'blocks takes no further arguments'],
    ['pause --reason x', 'pause takes a kind of work, such as uploads or export'],
    ['resume a b', 'resume takes a kind of work, such as uploads or export'],
    ['pause export', 'pause needs --reason with a text'],
    ['reports a b', 'reports takes no argument, or the short code of a paste'],
    ['uphold abc', 'uphold needs --reason with a text'],
    [`reject ${id} --reason x`, 'reject takes the short code of a paste'],
    ['reject abc --reason x --block', '--block is only for uphold'],
    ['cancel abc', 'cancel takes the id of a job'],
    ['pastes --state queued', '--state of pastes is one of there, in_progress,'],
    ['jobs --state there', '--state of jobs is one of queued,'],
    ['jobs --after x', '--after takes the place that the page before has named'],
    ['users --limit 1001', '--limit takes a number from 1 to 1000'],
    ['users a b', 'users takes no argument, or a part of a name'],
    ['workers --owner anna', '--owner is only for pastes and jobs'],
    ['erasures --open --since 2026-11-22', 'erasures takes --since or --open, and not both'],
    ['close-request abc --reason x', 'close-request takes the id or the link of a request for secrets'],
    [`close-request ${request}`, 'close-request needs --reason with a text'],
    [`cancel ${id} ${id}`, 'cancel takes the id of a job'],
    ['restore-objects --deleted-since yesterday', '--deleted-since takes a time'],
    ['uphold abc --reason --block', "Option '--reason' argument is ambiguous"],
    ['--reason takedown abc', '"abc" is not a command'],
    ['status --yaml', "Unknown option '--yaml'"],
  ])('refuses "%s" with 64 and a few lines, which a terminal shows', async (line, message) => {
    const { code, stdout, stderr } = await runOpsCommand(line === '' ? [] : line.split(' '), {});
    expect([code, stdout]).toEqual([64, '']);
    expect(stderr).toContain(`ops: ${message}`);
    expect(stderr).toMatch(/^ops: .+\n\nnpm run ops -- --help shows all commands and options\.\n$/);
  });

  it('is made from the actions: the usage has each command with its help and its options', () => {
    const said = usage.replaceAll(/\s+/g, ' ');
    for (const { command, options = [] } of actions) {
      if (command === null) continue;
      expect(said).toContain(` ${command.name} `);
      expect(said).toContain(command.help);
      for (const option of options)
        expect(said).toMatch(new RegExp(`--${option} for [^:]*\\b${command.name}\\b[^:]*: `));
    }
    expect(new Set(actions.map(({ name }) => name)).size).toBe(actions.length);
  });

  it('exits with 78 and names every missing variable when the environment names no database and no queues', async () => {
    const { code, stdout, stderr } = await runOpsCommand(['status'], {});
    expect([code, stdout]).toEqual([78, '']);
    for (const name of ['DATABASE_URL', 'AWS_ENDPOINT_URL']) expect(stderr).toContain(name);
  });
});
