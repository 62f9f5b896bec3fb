import { describe, expect, it } from '@jest/globals';
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
