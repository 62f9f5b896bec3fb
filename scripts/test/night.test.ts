import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';

const script = new URL('../night.ts', import.meta.url).pathname;
const PROOFS = ['campaign', 'interleavings', 'soak'];

interface Issue {
  readonly number: number;
  readonly title: string;
  readonly body: string;
  readonly creator: string;
  readonly comments: string[];
}

/** What GitHub keeps of a repository, behind the part of its API that the nights use. */
let github: {
  head: string | undefined;
  readonly objects: Record<string, { content?: string; tree?: string; parents?: readonly string[] }>;
  readonly issues: Issue[];
  /** A fork has no issues until somebody switches them on. */
  hasIssues: boolean;
};
let folder: string;
let server: Server;
let env: NodeJS.ProcessEnv;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'pasteflow-night-'));
  github = { head: undefined, objects: {}, issues: [], hasIssues: true };
  server = createServer((request, response) => {
    void text(request).then((body) => {
      if (request.headers.authorization !== 'Bearer secret') return response.writeHead(401).end();
      const { status, answer } = answerTo(`${request.method} ${request.url}`, body);
      return response.writeHead(status).end(typeof answer === 'string' ? answer : JSON.stringify(answer));
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  // npm is a program that does what the test says.
  writeFileSync(join(folder, 'npm'), '#!/bin/sh\necho "npm $* with seed ${SEED:-none}"\neval "$NPM"\n', {
    mode: 0o755,
  });
  env = {
    PATH: `${folder}:${process.env['PATH']}`,
    GITHUB_API_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    GITHUB_SERVER_URL: 'https://github.test',
    GITHUB_REPOSITORY: 'someone/pasteflow',
    GITHUB_RUN_ID: '77',
    GITHUB_SHA: 'abc123',
    GH_TOKEN: 'secret',
  };
});
afterEach(() => {
  server.close();
  server.closeAllConnections();
  rmSync(folder, { recursive: true, force: true });
});

function answerTo(request: string, body: string): { status: number; answer: unknown } {
  const given = (body === '' ? {} : JSON.parse(body)) as Record<string, never>;
  const [, path = ''] = request.split('/repos/someone/pasteflow');
  const keep = (object: object): { status: number; answer: unknown } => {
    const sha = `object${Object.keys(github.objects).length}`;
    github.objects[sha] = object;
    return { status: 201, answer: { sha } };
  };
  const comment = /^POST .*\/issues\/(\d+)\/comments$/.exec(request)?.[1];
  if (comment !== undefined) {
    github.issues.find(({ number }) => number === Number(comment))?.comments.push(given['body'] ?? '');
    return { status: 201, answer: {} };
  }
  switch (request.replace(`/repos/someone/pasteflow${path}`, path)) {
    case 'GET /git/ref/heads/nights':
      return github.head === undefined
        ? { status: 404, answer: { message: 'Not Found' } }
        : { status: 200, answer: { object: { sha: github.head } } };
    case 'GET /contents/nights.jsonl?ref=nights':
      return { status: 200, answer: contentOf(github.head) };
    case 'POST /git/trees':
      return keep({ content: (given['tree'] as unknown as { content: string }[])[0]?.content ?? '' });
    case 'POST /git/commits':
      return keep({ tree: given['tree'], parents: given['parents'] });
    case 'POST /git/refs':
    case 'PATCH /git/refs/heads/nights':
      github.head = given['sha'];
      return { status: 200, answer: {} };
    case 'GET /issues?state=open&creator=github-actions%5Bbot%5D&per_page=100':
      return {
        status: 200,
        answer: github.issues.filter(({ creator }) => creator === 'github-actions[bot]'),
      };
    case 'POST /issues':
      if (!github.hasIssues) return { status: 410, answer: { message: 'Issues has been disabled' } };
      github.issues.push({
        number: github.issues.length + 1,
        title: given['title'] ?? '',
        body: given['body'] ?? '',
        creator: 'github-actions[bot]',
        comments: [],
      });
      return { status: 201, answer: {} };
    default:
      return { status: 500, answer: `no answer to ${request}` };
  }
}

function contentOf(head: string | undefined): string {
  return github.objects[github.objects[head ?? '']?.tree ?? '']?.content ?? '';
}

const recorded = (): Record<string, unknown>[] =>
  contentOf(github.head)
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Record<string, unknown>);

async function night(
  args: readonly string[],
  more: NodeJS.ProcessEnv = {},
): Promise<{ code: number; output: string }> {
  return await new Promise((resolve) => {
    const child = execFile(
      process.execPath,
      [script, ...args],
      { env: { ...env, ...more } },
      (_, stdout, stderr) => resolve({ code: child.exitCode ?? -1, output: stdout + stderr }),
    );
  });
}

/** The artifacts of a night, where each proof did what `npm` says. */
async function proofs(seed: number, npm: Readonly<Record<string, string>> = {}): Promise<string> {
  const artifacts = join(folder, `night-${seed}`);
  for (const proof of PROOFS)
    await night(['run', proof, String(seed), join(artifacts, `night-${proof}`, 'night')], {
      NPM: npm[proof] ?? 'exit 0',
    });
  return artifacts;
}

describe('a night', () => {
  it('runs each proof by a command that anybody can repeat, and ends as it does', async () => {
    const passed = await night(['run', 'interleavings', '12', join(folder, 'a')], {
      NPM: 'echo all good >&2',
    });
    expect(passed).toEqual({ code: 0, output: 'npm run proof -- interleavings with seed 12\nall good\n' });
    expect(readFileSync(join(folder, 'a/log'), 'utf8')).toBe(passed.output);
    const failed = await night(['run', 'campaign', '12', join(folder, 'b')], { NPM: 'exit 3' });
    expect(failed.code).toBe(3);
    expect(failed.output).toContain('npm run proof -- campaign --pastes 20000 --kills 200 --seed 12 --check');
    expect(JSON.parse(readFileSync(join(folder, 'b/record.json'), 'utf8'))).toMatchObject({
      proof: 'campaign',
      seed: 12,
      outcome: 'failed',
      commit: 'abc123',
      command: 'npm run proof -- campaign --pastes 20000 --kills 200 --seed 12 --check',
    });
  });

  it('appends what ran to the file of the branch, of which it makes the first commit', async () => {
    await night(['report', await proofs(1)]);
    await night(['report', await proofs(2)]);
    const seen = recorded().map(({ proof, seed, outcome, commit, run }) => ({
      proof,
      seed,
      outcome,
      commit,
      run,
    }));
    const run = 'https://github.test/someone/pasteflow/actions/runs/77';
    const expected = [1, 2].flatMap((seed) =>
      PROOFS.map((proof) => ({ proof, seed, outcome: 'passed', commit: 'abc123', run })),
    );
    expect(seen).toHaveLength(6);
    expect(seen).toEqual(expect.arrayContaining(expected));
    const { parents } = github.objects[github.head ?? ''] ?? {};
    expect(parents).toHaveLength(1);
    expect(github.objects[parents?.[0] ?? '']?.parents).toEqual([]);
    expect(github.issues).toEqual([]);
  });

  it('opens an issue with the command, the history and the end of the log for what fails, and comments on it later', async () => {
    await night([
      'report',
      await proofs(1, { campaign: 'seq 1000; echo "paste x was \\`\\`\\`lost"; exit 1' }),
    ]);
    expect(github.issues.map(({ title }) => title)).toEqual(['At night: campaign fails']);
    const body = github.issues[0]?.body;
    expect(body).toContain('--seed 1 --check');
    expect(body).toContain('https://github.test/someone/pasteflow/actions/runs/77');
    expect(body).toContain('````\n942\n');
    expect(body).toContain('1000\npaste x was ```lost\n````');
    await night(['report', await proofs(2, { campaign: 'exit 1', soak: 'exit 1' })]);
    expect(github.issues.map(({ title, comments }) => [title, comments.length])).toEqual([
      ['At night: campaign fails', 1],
      ['At night: soak fails', 0],
    ]);
    expect(github.issues[0]?.comments[0]).toContain('--seed 2 --check');
  });

  it('does not take the issue of somebody else for its own', async () => {
    github.issues.push({
      number: 1,
      title: 'At night: soak fails',
      body: '',
      creator: 'stranger',
      comments: [],
    });
    await night(['report', await proofs(1, { soak: 'exit 1' })]);
    expect(github.issues.map(({ creator, comments }) => [creator, comments])).toEqual([
      ['stranger', []],
      ['github-actions[bot]', []],
    ]);
  });

  it('reports a proof that did not end, and one that did not begin', async () => {
    const artifacts = join(folder, 'killed');
    const child = spawn(process.execPath, [script, 'run', 'soak', '5', join(artifacts, 'night')], {
      env: { ...env, NPM: 'exec sleep 600' },
      stdio: ['ignore', 'pipe', 'inherit'],
      detached: true,
    });
    await once(child.stdout, 'data');
    process.kill(-(child.pid ?? 0), 'SIGKILL');
    await once(child, 'close');
    mkdirSync(artifacts, { recursive: true });
    await night(['report', artifacts]);
    expect(recorded().map(({ proof, outcome }) => [proof, outcome].join(' '))).toEqual([
      'soak did not end',
      'campaign did not begin',
      'interleavings did not begin',
    ]);
    expect(github.issues).toHaveLength(3);
    expect(existsSync(join(artifacts, 'night/log'))).toBe(true);
  });

  it('records the seeds, and fails, where there are no issues', async () => {
    github.hasIssues = false;
    const { code, output } = await night(['report', await proofs(1, { soak: 'exit 1' })]);
    expect(output).toContain('was answered 410');
    expect(code).toBe(1);
    expect(recorded()).toHaveLength(3);
  });

  it('fails when GitHub refuses it', async () => {
    const { code, output } = await night(['report', await proofs(1)], { GH_TOKEN: 'wrong' });
    expect(code).toBe(1);
    expect(output).toContain('was answered 401');
  });
});
