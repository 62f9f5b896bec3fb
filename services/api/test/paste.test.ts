import { describe, expect, it } from '@jest/globals';
import type { IncomingMessage } from 'node:http';
import { wantsPage } from '../src/http/request/accept.ts';
import { useApi } from './support/api.ts';
import { postJson, problemOf } from './support/http.ts';
import {
  claimForDeletion,
  deletedPaste,
  expire,
  failedPaste,
  newPaste,
  pasteRow,
  processedPaste,
  sha256,
} from './support/pastes.ts';

const bed = useApi();
const TOKEN = 'the token';

const paste = (code: string, path = '') => fetch(`${bed.api.url}/v1/pastes/${code}${path}`);
const remove = (code: string, token?: string) =>
  fetch(`${bed.api.url}/v1/pastes/${code}`, {
    method: 'DELETE',
    headers: token === undefined ? {} : { 'delete-token': token },
  });

describe('GET /v1/pastes/:short_code', () => {
  it('shows a paste as its POST did, without the delete token', async () => {
    const created = (await (await postJson(bed.api.url, { content: 'x', title: 'T' })).json()) as Record<
      string,
      string
    >;
    const response = await paste(created.short_code!);
    const { delete_token: _token, ...shown } = created;
    expect(response.status).toBe(200);
    expect(await response.json()).toEqual(shown);
    expect(response.headers.get('cache-control')).toBe('no-store');
  });

  it('shows a paste in any upload state', async () => {
    const processed = await processedPaste(bed, 'content');
    const { processed_at } = (await pasteRow(bed.db, processed))!;
    expect(await (await paste(processed)).json()).toMatchObject({
      status: 'PROCESSED',
      processed_at: processed_at!.toISOString(),
      failure_reason: null,
    });
    expect(await (await paste(await newPaste(bed.db))).json()).toMatchObject({
      status: 'IN_PROGRESS',
      processed_at: null,
    });
    expect(await (await paste(await failedPaste(bed.db))).json()).toMatchObject({
      status: 'FAILED',
      failure_class: 'storage_unavailable',
    });
  });

  it.each(['', '/timeline'])(
    'answers 404 for an unknown paste, and 410 for one that is gone%s',
    async (path) => {
      expect(await problemOf(await paste('unknown', path))).toMatchObject({
        status: 404,
        code: 'paste_not_found',
      });
      expect((await paste('x'.repeat(10_000), path)).status).toBe(404);
      const gone = {
        expired: await newPaste(bed.db),
        claimed: await failedPaste(bed.db),
        deleted: await failedPaste(bed.db),
      };
      await expire(bed.db, gone.expired);
      await claimForDeletion(bed.db, gone.claimed);
      await deletedPaste(bed.db, gone.deleted);
      for (const code of Object.values(gone)) {
        expect(await problemOf(await paste(code, path))).toMatchObject({ status: 410, code: 'paste_gone' });
      }
    },
  );
});

describe('DELETE /v1/pastes/:short_code', () => {
  it('answers 204 to the delete token of the POST, and the paste is gone on every route', async () => {
    const created = (await (await postJson(bed.api.url, { content: 'x', expires_in: 'never' })).json()) as {
      short_code: string;
      delete_token: string;
    };
    const response = await remove(created.short_code, created.delete_token);
    expect({ status: response.status, body: await response.text() }).toEqual({ status: 204, body: '' });
    for (const path of ['', '/content', '/timeline'])
      expect((await paste(created.short_code, path)).status).toBe(410);
    expect((await fetch(`${bed.api.url}/${created.short_code}`)).status).toBe(410);
    expect((await remove(created.short_code, created.delete_token)).status).toBe(410);
  });

  it('answers 401 without the token, and keeps the paste', async () => {
    const code = await processedPaste(bed, 'stays');
    for (const token of [undefined, '', 'another token', `${TOKEN}x`, 'ä', sha256(TOKEN).toString('hex')]) {
      const response = await remove(code, token);
      expect(response.headers.get('www-authenticate')).toBe('Delete-Token realm="pasteflow"');
      expect(await problemOf(response)).toMatchObject({ status: 401, code: 'unauthorized' });
    }
    expect((await paste(code, '/content')).status).toBe(200);
    expect((await remove(code, TOKEN)).status).toBe(204);
  });

  it('answers 401 for a paste that has no token', async () => {
    const code = await newPaste(bed.db);
    await bed.db
      .updateTable('pastes')
      .set({ delete_token_hash: null })
      .where('short_code', '=', code)
      .execute();
    expect((await remove(code, TOKEN)).status).toBe(401);
  });

  it('deletes a paste in any upload state', async () => {
    for (const code of [await newPaste(bed.db), await failedPaste(bed.db)]) {
      expect((await remove(code, TOKEN)).status).toBe(204);
      expect((await paste(code)).status).toBe(410);
    }
  });

  it('answers 404 for an unknown paste and 410 for an expired one', async () => {
    expect(await problemOf(await remove('unknown', TOKEN))).toMatchObject({ status: 404 });
    const code = await newPaste(bed.db);
    await expire(bed.db, code);
    expect(await problemOf(await remove(code, TOKEN))).toMatchObject({ status: 410 });
  });

  it('is done by one of many concurrent requests', async () => {
    const code = await processedPaste(bed, 'wanted');
    const statuses = await Promise.all(
      Array.from({ length: 20 }, async () => (await remove(code, TOKEN)).status),
    );
    expect(statuses.toSorted((a, b) => a - b)).toEqual([204, ...Array<number>(19).fill(410)]);
  });
});

describe('GET /v1/pastes/:short_code/timeline', () => {
  it('lists the transitions, oldest first, with the executions of the upload', async () => {
    const code = await processedPaste(bed, 'content');
    const { id } = (await pasteRow(bed.db, code))!;
    const body = (await (await paste(code, '/timeline')).json()) as {
      transitions: { at: string }[];
      executions: { id: string }[];
    };
    const execution = body.executions[0]!.id;
    const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    expect(body).toEqual({
      retries: [],
      transitions: expect.arrayContaining([
        transition('task_execution', execution, 'PENDING', 'RUNNING', 'claimed'),
        transition('task_execution', execution, 'RUNNING', 'SUCCEEDED', null),
        transition('paste_upload', id, 'IN_PROGRESS', 'PROCESSED', null),
      ]),
      executions: [
        {
          id: execution,
          attempt: 1,
          status: 'SUCCEEDED',
          run_at: time,
          dispatched_at: time,
          lease_expires_at: null,
          created_at: time,
          started_at: time,
          finished_at: time,
          error_class: null,
          error: null,
        },
      ],
    });
    expect(body.transitions).toHaveLength(3);
    expect(body.transitions[0]).toMatchObject({ from: 'PENDING' });
    expect(body.transitions.map(({ at }) => at)).toEqual(body.transitions.map(({ at }) => at).toSorted());

    function transition(machine: string, entity: string, from: string, to: string, why: string | null) {
      return { machine, entity, from, to, at: time, actor: 'worker', reason_class: why, reason: null };
    }
  });

  it('is available before the first transition', async () => {
    const body = await (await paste(await newPaste(bed.db), '/timeline')).json();
    expect(body).toMatchObject({ transitions: [], executions: [{ status: 'PENDING', started_at: null }] });
  });
});

const wanted = (accept?: string) => wantsPage({ headers: { accept } } as IncomingMessage);

describe('a request wants a page', () => {
  it.each([
    ['Chromium', 'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8'],
    ['Firefox', 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8'],
    ['Lynx', 'text/html, text/plain, text/sgml, text/css, */*;q=0.01'],
    ['w3m', 'text/html, text/*;q=0.5, image/*, application/*'],
    ['Edge 12', 'text/html, application/xhtml+xml, image/gif, image/jxr, */*'],
    ['a lower quality', 'application/json, text/html;q=0.5'],
    ['other letters', 'TEXT/HTML; Q=0.7'],
    ['parameters before the quality', 'text/html;level=1;q=0.3'],
    ['the same quality as plain text', 'text/plain;q=0.5, text/html;q=0.5'],
    ['spaces and tabs', ' text/html\t; q=0.9 , */*'],
    ['empty elements', ',, text/html ,,;'],
    ['an unknown parameter without a value', 'text/html;charset'],
    ['a name twice, of which the last counts', 'text/html;q=0, text/html'],
    ['names of JavaScript', '__proto__, constructor;q=1, text/html'],
    ['the longest list that is read', `${'a/b,'.repeat(247)}text/html`],
  ])('when its Accept names text/html: %s', (_name, accept) => expect(wanted(accept)).toBe(true));

  it.each([
    ['no Accept', undefined],
    ['curl and wget', '*/*'],
    ['Java 17', 'text/html, image/gif, image/jpeg, */*; q=0.2'],
    ['Java 8', 'text/html, image/gif, image/jpeg, *; q=.2, */*; q=.2'],
    ['any text', 'text/*'],
    ['JSON', 'application/json'],
    ['a quality of 0', 'text/html;q=0, */*'],
    ['a preference for plain text', 'text/html;q=0.8, text/plain'],
    ['a malformed quality', 'text/html;q=high'],
    ['a quality above 1', 'text/html;q=2'],
    ['a negative quality', 'text/html;q=-1'],
    ['an empty quality', 'text/html;q='],
    ['a quality in letters', 'text/html;q=abc'],
    ['a quality of four decimals', 'text/html;q=0.1234'],
    ['a quality in hexadecimal', 'text/html;q=0x1'],
    ['a quality of 0.000', 'text/html;q=0.000'],
    ['a name twice, the last with a quality of 0', 'text/html, text/html;q=0'],
    ['plain text that is much preferred', 'text/html;q=0.1, text/plain'],
    ['no slash', 'text html'],
    ['a wildcard of subtypes beside JSON', 'application/json, text/*;q=0.9'],
    ['quotes around the type', '"text/html"'],
    ['only separators', ';q=1;q=1,;'],
    ['a longer type', 'text/html5'],
    ['an empty list', ',,,;;,'],
    ['a longer list than is read', `${'a/b,'.repeat(248)}text/html`],
    ['8 KiB in one word', `text/html;x=${'y'.repeat(8192)}`],
    ['8 KiB of separators', ';'.repeat(8192)],
    ['8 KiB of types', `text/html,${'a/b;q=0.1,'.repeat(819)}`],
  ])('and otherwise gets the bytes: %s', (_name, accept) => expect(wanted(accept)).toBe(false));
});

const browse = (path: string): Promise<Response> =>
  fetch(bed.api.url + path, { headers: { accept: 'text/html' } });

it('links the timeline of a failed paste, and not the sign-in, which would show nothing more', async () => {
  const code = await failedPaste(bed.db);
  const markup = await (await browse(`/${code}`)).text();
  expect(markup).toContain(`href="/${code}/timeline"`);
  expect(markup).not.toContain('Sign in, if');
  expect((await browse(`/${code}/timeline`)).status).toBe(200);
});

it('does not link a timeline that is gone with the failed paste', async () => {
  const code = await failedPaste(bed.db);
  await deletedPaste(bed.db, code);
  for (const path of [`/${code}`, `/${code}/timeline`])
    expect(await (await browse(path)).text()).not.toContain(`href="/${code}/timeline"`);
});
