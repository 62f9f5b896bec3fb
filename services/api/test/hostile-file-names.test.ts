import { describe, expect, it } from '@jest/globals';
import { hostileFileNames } from '@pasteflow/dev-stack/testing';
import { useApi } from './support/api.ts';
import { limited } from './support/limits.ts';
import { postJson, problemOf } from './support/http.ts';
import { countPastes } from './support/pastes.ts';

const bed = useApi({
  env: limited({ requests: 0, creations: 0, misses: 0, bytes: 0, reports: 0 }),
});

/** A file as a client sends it that writes the name as it is, and escapes what would end it. */
const partOf = (name: string) =>
  `--b\r\nContent-Disposition: form-data; name="file"; filename="${name.replaceAll(/["\\]/g, String.raw`\$&`)}"\r\n\r\nx\r\n`;

describe('a hostile name of a file', () => {
  it('is refused in JSON, and the other files with it', async () => {
    const before = await countPastes(bed.db);
    for (const name of [...hostileFileNames, 'a\uD800b']) {
      const files = ['other', name].map((each) => ({ name: each, content: 'x' }));
      const { status, errors } = await problemOf(await postJson(bed.api.url, { files }));
      expect({ name, status, errors }).toEqual({
        name,
        status: 422,
        errors: [{ path: 'files.1.name', message: expect.stringMatching(/^must /) }],
      });
    }
    expect(await countPastes(bed.db)).toBe(before);
  });

  it('is refused in a form, and the other files with it', async () => {
    const before = await countPastes(bed.db);
    // CR LF ends a header, so that what stands before it is another name.
    for (const name of hostileFileNames.filter((each) => !each.includes('\r\n'))) {
      const body = Buffer.from(`${partOf('other')}${partOf(name)}--b--\r\n`);
      const headers = { 'content-type': 'multipart/form-data; boundary=b' };
      const answer = await fetch(bed.api.url, { method: 'POST', headers, body });
      expect({ name, status: answer.status }).not.toMatchObject({ status: 201 });
      const { status, errors = [] } = await problemOf(answer);
      // No header can have a newline or a NUL in it.
      const isMalformed = /[\0\r\n]/.test(name) && status === 400;
      const isRefused = status === 422 && errors[0]?.path === 'files.1.name';
      expect({ name, isRefused: isMalformed || isRefused }).toEqual({ name, isRefused: true });
    }
    expect(await countPastes(bed.db)).toBe(before);
  });
});
