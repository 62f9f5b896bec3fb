import { beforeEach, describe, expect, it } from '@jest/globals';
import { createPaste } from '@pasteflow/postgres';
import { useApi } from './support/api.ts';
import { addAsset, claim, end, endedJob, newJob, progress } from './support/jobs.ts';
import { ownForm } from './support/http.ts';
import { countPastes, newPaste, pasteRow, sha256 } from './support/pastes.ts';
import { newUser, signedInWith, type TestUser } from './support/users.ts';

const bed = useApi({ env: { MAX_PASTE_BYTES: '20000', MAX_OPEN_JOBS_PER_USER: '3' } });
const BROWSER = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' };

let user: TestUser;
let other: TestUser;
beforeEach(async () => {
  user = await newUser(bed.db);
  other = await newUser(bed.db);
});

/** A request of a browser that the user has signed in. */
const browse = async (path: string, init: RequestInit = {}, as: TestUser = user) =>
  await fetch(bed.api.url + path, {
    redirect: 'manual',
    ...init,
    headers: {
      ...BROWSER,
      cookie: await signedInWith(bed.db, as.token),
      'sec-fetch-site': 'same-origin',
      ...(init.headers as Record<string, string> | undefined),
    },
  });

const submit = (path: string, fields: Record<string, string> | [string, string][], as?: TestUser) =>
  browse(path, { ...ownForm(bed.api.url, {}), body: new URLSearchParams(fields) }, as);

const textOf = async (path: string, as?: TestUser) => await (await browse(path, {}, as)).text();

async function titled(title: string): Promise<string> {
  const shortCode = sha256(title + user.id)
    .toString('hex')
    .slice(0, 10);
  await createPaste(bed.db, {
    shortCode,
    content: Buffer.from('x'),
    contentHash: `sha256:${'0'.repeat(64)}`,
    title,
    syntax: null,
    expiresInSeconds: null,
    userId: user.id,
    visibility: 'private',
    deleteTokenHash: null,
  });
  return shortCode;
}

describe('/my/pastes', () => {
  it('asks a browser that is not signed in to sign in, and comes back', async () => {
    const page = await fetch(`${bed.api.url}/my/pastes?title=a%22b`, { headers: BROWSER });
    expect(page.status).toBe(401);
    const markup = await page.text();
    expect(markup).toContain('name="next" value="/my/pastes?title=a%22b"');
    expect(markup).toContain('<p>Sign in to see this page.</p>'); // no error, which the page of a wrong token has
  });

  it('lists only the pastes of the user, with titles as text', async () => {
    const theirs = await newPaste(bed.db, 'x', { userId: other.id });
    await titled('<b>bold</b>');
    const markup = await textOf('/my/pastes');
    expect(markup).toContain('<bdi>&lt;b&gt;bold&lt;/b&gt;</bdi>');
    expect(markup).not.toContain(theirs);
    expect(await textOf('/my/pastes', await newUser(bed.db))).toContain('You have no pastes yet.');
  });

  it('filters by title and status, as its form sends them, and keeps both in the links', async () => {
    for (let i = 0; i < 51; i += 1) await titled(`note ${i}`);
    await titled('other');
    const markup = await textOf('/my/pastes?title=NOTE&status=IN_PROGRESS');
    expect(markup.split('name="short_code"').length - 1).toBe(50);
    expect(markup).not.toContain('>other<');
    const [, next = ''] = /href="([^"]+)" rel="next"/.exec(markup) ?? [];
    expect(next).toContain('title=NOTE&amp;status=IN_PROGRESS&amp;cursor=');
    const last = await textOf(next.replaceAll('&amp;', '&'));
    expect(last.split('name="short_code"').length - 1).toBe(1);
    expect(await textOf('/my/pastes?title=&status=')).toContain('>other<');
    expect(await textOf('/my/pastes?title=note&status=PROCESSED')).toContain('No paste matches');
  });

  it.each(['?status=x', '?cursor=x', '?title=%00', '?x=1', '?deleted=x', `?title=${'x'.repeat(201)}`])(
    'refuses a wrong address: %s',
    async (query) => {
      expect((await browse(`/my/pastes${query}`)).status).toBe(422);
    },
  );

  it('asks before it deletes, and then deletes what belongs to the user and nothing else', async () => {
    const [one, two] = [await titled('one <i>'), await titled('two')];
    const theirs = await newPaste(bed.db, 'x', { userId: other.id });
    const codes = [one, two, theirs].map((code): [string, string] => ['short_code', code]);
    const question = await submit('/my/pastes/delete', codes);
    expect(question.status).toBe(200);
    const markup = await question.text();
    expect(markup).toContain('Delete these 2 pastes?');
    expect(markup).toContain('one &lt;i&gt;');
    expect(markup).not.toContain(theirs);
    expect((await pasteRow(bed.db, one))?.deletion_requested_at).toBeNull();

    const done = await submit('/my/pastes/delete', [...codes, ['confirmed', 'yes']]);
    expect([done.status, done.headers.get('location')]).toEqual([303, '/my/pastes?deleted=2']);
    expect(await textOf('/my/pastes?deleted=2')).toContain('2 pastes are deleted.');
    expect((await browse(`/${one}`)).status).toBe(410);
    expect((await browse(`/${theirs}`)).status).toBe(200);
    const again = await submit('/my/pastes/delete', [...codes, ['confirmed', 'yes']]);
    expect(again.headers.get('location')).toBe('/my/pastes?deleted=0');
  });

  it.each<[string, [string, string][]]>([
    ['nothing selected', []],
    ['no short code', [['short_code', "x' OR 1"]]],
    ['too many', Array.from({ length: 101 }, (_, i) => ['short_code', `a${i}`])],
    ['a confirmation that is none', [['short_code', 'abc'], ['confirmed', 'no']]], // oxfmt-ignore
  ])('refuses to delete: %s', async (_name, fields) => {
    expect((await submit('/my/pastes/delete', fields)).status).toBe(422);
  });

  it.each(['https://evil.example', 'null'])(
    'deletes nothing for a form of another site: %s',
    async (origin) => {
      const code = await titled('mine');
      const body = new URLSearchParams({ short_code: code, confirmed: 'yes' });
      const headers = { origin };
      expect((await browse('/my/pastes/delete', { method: 'POST', body, headers })).status).toBe(403);
      expect((await pasteRow(bed.db, code))?.deletion_requested_at).toBeNull();
    },
  );
});

describe('/my/jobs', () => {
  it('lists the jobs of the user, filtered by type and state', async () => {
    await endedJob(bed.db, user, { status: 'partial' });
    const queued = await newJob(bed.db, user, 'import');
    const markup = await textOf('/my/jobs');
    expect(markup).toContain('some of it went wrong');
    expect(markup).toContain(`/my/jobs/${queued}`);
    expect(await textOf('/my/jobs?job_type=export&status=')).not.toContain(queued);
    expect(await textOf('/my/jobs?status=failed')).toContain('No job matches the filter.');
    expect((await browse('/my/jobs?status=x')).status).toBe(422);
    expect(await textOf('/my/jobs', other)).not.toContain(queued);
  });

  it('starts an export in the format of the form', async () => {
    const response = await submit('/my/jobs/export', { format: 'tar.gz' });
    const location = response.headers.get('location')!;
    expect([response.status, location]).toEqual([303, expect.stringMatching(/^\/my\/jobs\/[\da-f-]{36}$/)]);
    const job = await bed.db
      .selectFrom('jobs')
      .selectAll()
      .where('id', '=', location.slice(-36))
      .executeTakeFirstOrThrow();
    expect(job).toMatchObject({ job_type: 'export', parameters: { format: 'tar.gz' }, user_id: user.id });
    expect((await submit('/my/jobs/export', { format: 'rar' })).status).toBe(422);
    expect((await submit('/my/jobs/export', { format: 'zip', since: 'yesterday' })).status).toBe(422);
  });

  const upload = (file: Blob | null, fields: Record<string, string> = {}, as?: TestUser) => {
    const body = new FormData();
    if (file !== null) body.set('file', file, 'pastes.zip');
    for (const [name, value] of Object.entries(fields)) body.set(name, value);
    return browse('/my/jobs/import', { ...ownForm(bed.api.url, {}), body }, as);
  };

  it('starts an import of a file, which it keeps for a day as a private paste', async () => {
    const response = await upload(new Blob(['{"content": "x"}']), {
      visibility: 'private',
      expires_in: '3600',
    });
    expect(response.status).toBe(303);
    const job = await bed.db
      .selectFrom('jobs')
      .selectAll()
      .where('id', '=', response.headers.get('location')!.slice(-36))
      .executeTakeFirstOrThrow();
    expect(job.title).toBe('pastes.zip');
    expect(await textOf('/my/jobs')).toContain('Import of <bdi>pastes.zip</bdi>');
    expect(job.parameters).toEqual({
      source_short_code: expect.any(String),
      visibility: 'private',
      expires_in: 3600,
    });
    const { source_short_code: source } = job.parameters as { source_short_code: string };
    const paste = (await pasteRow(bed.db, source))!;
    expect(paste).toMatchObject({ user_id: user.id, visibility: 'private', size_bytes: 16 });
    expect(Number(paste.expires_at) - Number(paste.created_at)).toBe(86_400_000);
  });

  it.each([
    ['no file', null, {}, 422],
    ['an empty file', new Blob([]), {}, 422],
    ['too large a file', new Blob(['x'.repeat(20_001)]), {}, 413],
    ['a wrong expiry', new Blob(['x']), { expires_in: 'soon' }, 422],
    ['a wrong visibility', new Blob(['x']), { visibility: 'public' }, 422],
    ['an unknown field', new Blob(['x']), { source_short_code: 'q7Zk2Lm9Xa', items: '1' }, 422],
  ] as const)('stores nothing for %s', async (_name, file, fields, status) => {
    const before = await countPastes(bed.db);
    const response = await upload(file, fields);
    expect([response.status, response.headers.get('content-type')]).toEqual([
      status,
      'text/html; charset=utf-8',
    ]);
    expect(await countPastes(bed.db)).toBe(before);
  });

  it('stores no file whose import is refused, because the user has too many jobs', async () => {
    for (let i = 0; i < 3; i += 1) await newJob(bed.db, user);
    const before = await countPastes(bed.db);
    const response = await upload(new Blob(['x']));
    expect(response.status).toBe(429);
    expect(await response.text()).toContain('You have 3 jobs that wait or run');
    expect(await countPastes(bed.db)).toBe(before);
  });
});

describe('/my/jobs/:id', () => {
  it('shows the progress, and refreshes itself without JavaScript until the job has ended', async () => {
    const jobId = await newJob(bed.db, user);
    expect(await textOf(`/my/jobs/${jobId}`)).toContain('The job waits for its turn.');
    const executionId = await claim(bed.db, jobId);
    await progress(bed.db, { jobId, executionId }, 42, 'half of it <b>');
    const running = await textOf(`/my/jobs/${jobId}`);
    expect(running).toContain('max="100" value="42"');
    expect(running).toContain('half of it &lt;b&gt;');
    expect(running).toContain('<noscript><meta http-equiv="refresh"');

    const storagePath = `jobs/${jobId}/${executionId}.zip`;
    await addAsset(bed.db, { user, jobId, executionId }, { assetType: 'archive', storagePath });
    const result = {
      exported: 3,
      bytes: 2048,
      missing_count: 1,
      missing: [{ short_code: 'abc', reason: '<i>' }],
    };
    await end(bed.db, executionId, { status: 'partial', result, errorMessage: 'one is missing' });
    const ended = await textOf(`/my/jobs/${jobId}`);
    expect(ended).not.toContain('http-equiv');
    expect(ended).toContain('&lt;i&gt;');
    expect(ended).toContain('2.0 KiB');
    const [, link = ''] = /class="button primary" href="([^"]+)"/.exec(ended) ?? [];
    expect(link).toContain('X-Amz-Signature');
  });

  it('lists the errors of an import, whatever its result holds', async () => {
    const jobId = await newJob(bed.db, user, 'import');
    const errors = [{ position: 7, name: 'a/<b>.txt', reason: 'must not be empty' }, { position: {} }];
    await end(bed.db, await claim(bed.db, jobId), {
      status: 'failed',
      result: { imported: 0, failed: 2, errors },
      errorMessage: 'none of it',
    });
    const markup = await textOf(`/my/jobs/${jobId}`);
    expect(markup).toContain(
      '<td class="title" dir="auto">a/&lt;b&gt;.txt</td><td class="title" lang="en" dir="auto">must not be empty</td>',
    );
    expect(markup).not.toContain('[object Object]');
  });

  it('cancels the job with its button, once', async () => {
    const jobId = await newJob(bed.db, user);
    expect(await textOf(`/my/jobs/${jobId}`)).toContain(`action="/my/jobs/${jobId}/cancel"`);
    for (let i = 0; i < 2; i += 1) {
      const response = await submit(`/my/jobs/${jobId}/cancel`, {});
      expect([response.status, response.headers.get('location')]).toEqual([303, `/my/jobs/${jobId}`]);
    }
    const markup = await textOf(`/my/jobs/${jobId}`);
    expect(markup).toContain('<p class="hint" lang="en" dir="auto">cancelled by its owner</p>');
    for (const page of [markup, await textOf('/my/jobs')])
      expect(page).toMatch(/<span class="badge cancelled"[^>]*>cancelled</);
    expect(markup).not.toContain('/cancel"');
  });

  it('leaves a job that has ended as it is when the button is pressed late', async () => {
    const jobId = await endedJob(bed.db, user, { status: 'completed' });
    expect((await submit(`/my/jobs/${jobId}/cancel`, {})).status).toBe(303);
    expect(await textOf(`/my/jobs/${jobId}`)).toContain('class="badge completed"');
  });

  it.each(['https://evil.example', 'null'])(
    'cancels nothing for a form of another site: %s',
    async (origin) => {
      const jobId = await newJob(bed.db, user);
      const response = await browse(`/my/jobs/${jobId}/cancel`, { method: 'POST', headers: { origin } });
      expect(response.status).toBe(403);
      expect(await textOf(`/my/jobs/${jobId}`)).toContain('The job waits for its turn.');
    },
  );

  it('is not for other users, and not for ids that are none', async () => {
    const jobId = await newJob(bed.db, user);
    expect((await browse(`/my/jobs/${jobId}`, {}, other)).status).toBe(403);
    expect((await browse('/my/jobs/x')).status).toBe(404);
  });
});
