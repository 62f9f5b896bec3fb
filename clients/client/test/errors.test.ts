import { describe, expect, it } from '@jest/globals';
import { PasteflowApiError, PasteflowError } from '../src/index.ts';
import { answer, problem, type Handler } from './support/scripted-server.ts';
import { useServer } from './support/server.ts';

const bed = useServer();

async function errorOf(handler: Handler): Promise<unknown> {
  bed.server.script(handler);
  return await bed
    .client({ retry: false })
    .pastes.get('q7Zk2Lm9Xa')
    .catch((each: unknown) => each);
}

describe('an error of the api', () => {
  it('has every field of the problem document and the headers', async () => {
    const errors = [{ path: 'title', message: 'must not have control characters' }];
    const headers = { 'x-request-id': 'request-1', 'retry-after': '17' };
    const error = await errorOf(problem(422, 'validation_failed', headers, { errors }));
    expect(error).toBeInstanceOf(PasteflowApiError);
    expect(error).toBeInstanceOf(PasteflowError);
    expect(error).toMatchObject({
      name: 'PasteflowApiError',
      message: '422 validation_failed: What to do.; title must not have control characters',
      status: 422,
      code: 'validation_failed',
      detail: 'What to do.',
      errors,
      requestId: 'request-1',
      retryAfter: 17,
    });
  });

  it('has no code when a proxy sent the response', async () => {
    expect(await errorOf(answer(403, '<h1>Forbidden</h1>', { 'content-type': 'text/html' }))).toMatchObject({
      status: 403,
      code: null,
      errors: [],
      requestId: null,
      retryAfter: null,
    });
    const json = { 'content-type': 'application/json' };
    expect(await errorOf(answer(400, '{"code":"of its own"}', json))).toMatchObject({ code: null });
    expect(await errorOf(answer(404))).toMatchObject({ status: 404, code: null });
  });

  it('converts the date of Retry-After to seconds', async () => {
    const inAMinute = new Date(Date.now() + 60_000).toUTCString();
    const { retryAfter } = (await errorOf(
      answer(429, 'x', { 'retry-after': inAMinute }),
    )) as PasteflowApiError;
    expect(retryAfter).toBeGreaterThan(50);
    expect(retryAfter).toBeLessThanOrEqual(60);
    expect(await errorOf(answer(429, 'x', { 'retry-after': 'soon' }))).toMatchObject({ retryAfter: null });
  });
});
