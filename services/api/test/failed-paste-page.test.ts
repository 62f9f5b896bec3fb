import { expect, it } from '@jest/globals';
import { useApi } from './support/api.ts';
import { deletedPaste, failedPaste } from './support/pastes.ts';

const bed = useApi();

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
