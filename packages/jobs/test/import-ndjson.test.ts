import { describe, expect, it } from '@jest/globals';
import { newUser, run } from './support/attempts.ts';
import { importedBy, waitingPaste } from './support/pastes.ts';
import { useWorld } from './support/world.ts';

const world = useWorld();

async function imported(source: Buffer | string, parameters: object = {}) {
  const userId = await newUser(world);
  const shortCode = await waitingPaste(world, source);
  const made = await run(world, 'import', { source_short_code: shortCode, ...parameters }, { userId });
  return { ...made, pastes: await importedBy(world, made.job.jobId) };
}

const linesOf = (...values: unknown[]): string => values.map((value) => JSON.stringify(value)).join('\n');

describe('NDJSON', () => {
  it('becomes one paste for each line, with or without a final newline, blank lines and CRLF', async () => {
    const { result, pastes } = await imported(
      `\u{feff}{"content":"one","title":"First"}\r\n\n  \t\n{"content":"two"}\r\n {"content":"three"}`,
    );
    expect(result).toEqual({ imported: 3, failed: 0, errors: [] });
    expect(pastes.map(({ position, title, content }) => [position, title, String(content)])).toEqual([
      [0, 'First', 'one'],
      [3, null, 'two'],
      [4, null, 'three'],
    ]);
  });

  it('may have a hundred thousand lines when most are blank', async () => {
    const { result } = await imported(`{"content":"x"}${'\n'.repeat(100_000)}`);
    expect(result).toEqual({ imported: 1, failed: 0, errors: [] });
  });

  it('lets a line override the values for all lines', async () => {
    const { pastes } = await imported(
      linesOf({ content: 'a' }, { content: 'b', visibility: 'unlisted', expires_in: 60 }),
      { visibility: 'private', expires_in: 'never' },
    );
    expect(pastes.map(({ visibility, expires_in }) => [visibility, expires_in])).toEqual([
      ['private', null],
      ['unlisted', 60],
    ]);
  });

  it('lists invalid lines with reasons', async () => {
    const source = Buffer.concat([
      Buffer.from(`${linesOf({ content: 'good' }, [1], 'x')}\n{"content": \n`),
      Buffer.from('{"content":"\xff"}\n', 'latin1'),
      Buffer.from(`{"content":"x","title":${'['.repeat(5000)}${']'.repeat(5000)}}\n`),
      Buffer.from(linesOf({ content: 'x', expires_at: 'soon' }, { content: '\u0000' })),
    ]);
    const { ending, result, pastes } = await imported(source);
    expect(ending.status).toBe('partial');
    expect(result).toEqual({
      imported: 2,
      failed: 6,
      errors: [
        [1, 'must be a JSON object'],
        [2, 'must be a JSON object'],
        [3, 'must be JSON in UTF-8, one object on each line'],
        [4, 'must be JSON in UTF-8, one object on each line'],
        [5, 'must be one JSON object with the fields of a paste'],
        [6, 'expires_at: must be an RFC 3339 time, or null'],
      ].map(([position, reason]) => ({ position, name: null, reason })),
    });
    expect(pastes.map(({ content }) => String(content))).toEqual(['good', '\0']);
  });

  it('does not count commas and brackets inside strings as values', async () => {
    const content = '[{,"\\'.repeat(1000);
    const { pastes } = await imported(linesOf({ content }));
    expect(pastes.map((paste) => String(paste.content))).toEqual([content]);
  });

  it('takes a language that an earlier release has exported and this one does not know as none', async () => {
    const { result, pastes } = await imported(
      linesOf(
        { short_code: 'abc', content: 'a', syntax: 'kling on!' },
        { short_code: 'abd', content: 'b', syntax: 'rs' },
        { short_code: 'abe', content: 'c', syntax: null },
        { content: 'd', syntax: 'kling on!' },
      ),
    );
    expect(pastes.map(({ syntax }) => syntax)).toEqual([null, 'rs', null]);
    expect(result).toMatchObject({ imported: 3, failed: 1, errors: [{ position: 3 }] });
  });

  it('accepts the extra fields of an export, and keeps the expiry', async () => {
    const beside = {
      short_code: 'abc',
      created_at: '2026-01-01T00:00:00Z',
      content_hash: 'x',
      size_bytes: 1,
    };
    const inSeconds = (seconds: number): string => new Date(Date.now() + seconds * 1000).toISOString();
    const { result, pastes } = await imported(
      linesOf(
        { ...beside, content: 'a', expires_at: null },
        { ...beside, content: 'b', expires_at: inSeconds(200 * 86_400) },
        { ...beside, content: 'c', expires_at: inSeconds(5) },
        { ...beside, content: 'd', expires_at: '2020-01-01T00:00:00.000Z' },
        { ...beside, content: 'e', expires_at: null, expires_in: 3600 },
      ),
    );
    expect(result).toEqual({ imported: 5, failed: 0, errors: [] });
    const [never, ...others] = pastes.map(({ expires_in }) => expires_in);
    expect(never).toBeNull();
    expect(others[0]).toBeGreaterThan(200 * 86_400 - 60);
    expect(others[0]).toBeLessThanOrEqual(200 * 86_400 + 1);
    expect(others.slice(1)).toEqual([60, 30 * 86_400, 3600]);
    const said = await imported(linesOf({ ...beside, content: 'f', expires_at: null }), { expires_in: 60 });
    expect(said.pastes[0]?.expires_in).toBe(60);
  });
});
