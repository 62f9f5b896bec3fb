import { describe, expect, it } from '@jest/globals';
import { contentHashOf } from '@pasteflow/service-kit';
import { blockContent } from '@pasteflow/postgres';
import { assetsOf, errorOf, newUser, run } from './support/attempts.ts';
import { importedBy, pasteCount } from './support/pastes.ts';
import { useWorld } from './support/world.ts';

const world = useWorld();

/** An encrypted paste that PBinCLI has made, as it is stored. */
const DOCUMENT =
  '{"v":2,"adata":[["rrfMAi2AaumKjW12s0sMoA==","3c/Rx0TenaQ=",100000,256,128,"aes","gcm","zlib"],"plaintext",0,0],"ct":"UTHsl6wkf5CP4kU3cFNiau1j/9rGTHavg/YE34iHLHqej+n7etf48M/vduSvYHkl3A=="}';

describe('importing items', () => {
  it('keeps an encrypted paste encrypted, and refuses one that no reader could open', async () => {
    const userId = await newUser(world);
    const items = [
      { content: DOCUMENT, encrypted: true },
      { content: DOCUMENT },
      { content: 'plain', encrypted: true },
      { content: DOCUMENT, encrypted: true, title: 'Secret' },
    ];
    const { job, result } = await run(world, 'import', { items }, { userId });
    expect(result).toMatchObject({
      imported: 2,
      errors: [
        { position: 2, reason: 'content: must be JSON' },
        { position: 3, reason: expect.stringContaining('title: must be empty for an encrypted paste') },
      ],
    });
    const pastes = await importedBy(world, job.jobId);
    expect(pastes.map(({ position, encrypted }) => [position, encrypted])).toEqual([
      [0, true],
      [1, false],
    ]);
  });

  it('creates a paste with an upload and an asset for each item', async () => {
    const userId = await newUser(world);
    const items = [
      { content: 'one', title: 'First', syntax: 'text', expires_in: 'never', visibility: 'private' },
      { content: 'two', expires_in: 3600 },
      { content_base64: Buffer.from([0, 255, 0xd8, 10]).toString('base64') },
    ];
    const { job, ending, result, uploads, progress } = await run(world, 'import', { items }, { userId });
    expect(ending.status).toBe('completed');
    expect(result).toEqual({ imported: 3, failed: 0, errors: [] });
    const pastes = await importedBy(world, job.jobId);
    expect(
      pastes.map(({ position, title, syntax, visibility, expires_in }) => [
        position,
        title,
        syntax,
        visibility,
        expires_in,
      ]),
    ).toEqual([
      [0, 'First', 'text', 'private', null],
      [1, null, null, 'unlisted', 3600],
      [2, null, null, 'unlisted', 30 * 86_400],
    ]);
    expect(pastes.map(({ content }) => content)).toEqual([
      Buffer.from('one'),
      Buffer.from('two'),
      Buffer.from([0, 255, 0xd8, 10]),
    ]);
    for (const paste of pastes) {
      expect(paste.user_id).toBe(userId);
      expect(paste.content_hash).toBe(contentHashOf(paste.content));
    }
    expect(uploads.map(({ shortCode, content }) => [shortCode, content])).toEqual(
      expect.arrayContaining(pastes.map(({ short_code, content }) => [short_code, content])),
    );
    expect(
      (await assetsOf(world, job.jobId)).map(({ asset_type, url, file_size }) => [
        asset_type,
        url,
        file_size,
      ]),
    ).toEqual(
      expect.arrayContaining(
        pastes.map(({ short_code, content }) => [
          'paste',
          `s3://pasteflow/pastes/${short_code}`,
          String(content.length),
        ]),
      ),
    );
    expect(progress.at(-1)).toBe(100);
  });

  it('makes pastes that are deleted when they are read', async () => {
    const items = [{ content: 'plain' }, { content: 'secret', burn: true }];
    const { result } = await run(world, 'import', { items }, { userId: await newUser(world) });
    expect(result).toMatchObject({ imported: 2 });
    const rows = await world.db.selectFrom('pastes').select(['burn', 'size_bytes']).execute();
    expect(rows).toEqual(
      expect.arrayContaining([
        { burn: false, size_bytes: 5 },
        { burn: true, size_bytes: 6 },
      ]),
    );
  });

  it('lists invalid items with reasons, and imports the others', async () => {
    const items = [
      { content: 'good' },
      {},
      { content: '' },
      { content: 'x', title: 'a\nb' },
      { content: 'x'.repeat(1024 * 1024 + 1) },
      { content: 'x', colour: 'red' },
      { content: 'x', parent: 'q7Zk2Lm9Xa' },
      { content: 'x', content_base64: 'eA==' },
      { content_base64: 'not base64' },
      { content: 5, expires_in: 1 },
      { content: 'x', slug: 'release-notes' },
      { content: 'also good', slug: '' },
    ];
    const { job, ending, result } = await run(world, 'import', { items }, { userId: await newUser(world) });
    expect(ending.status).toBe('partial');
    expect(errorOf(ending)).toBe('10 of 12 entries are not valid pastes; result.errors says why.');
    expect(result).toEqual({
      imported: 2,
      failed: 10,
      errors: [
        [1, 'content: is required unless content_base64 is given'],
        [2, 'content: must not be empty'],
        [3, 'title: must not have control characters'],
        [4, 'content: must have at most 1048576 bytes'],
        [5, 'colour: is not a known field'],
        [6, 'parent: is not a known field'],
        [7, 'content_base64: cannot be combined with content'],
        [8, 'content_base64: must be base64'],
        [
          9,
          'content: must be a text; expires_in: must be whole seconds from 60 to 31536000, a time such as "10m", "12h" or "7d", or "never"',
        ],
        [10, 'slug: an import gives no slugs; create this paste with POST /v1/pastes'],
      ].map(([position, reason]) => ({ position, name: null, reason })),
    });
    expect((await importedBy(world, job.jobId)).map(({ position }) => position)).toEqual([0, 11]);
  });

  it('fails when no item is valid', async () => {
    const { ending, result } = await run(world, 'import', { items: [{}] }, { userId: await newUser(world) });
    expect(ending.status).toBe('failed');
    expect(result).toMatchObject({ imported: 0, failed: 1 });
    expect(await pasteCount(world)).toBe(0);
  });

  it('imports a thousand items with a few statements', async () => {
    const items = Array.from({ length: 1000 }, (_, n) => ({ content: `item ${n}` }));
    const { job, result, progress } = await run(world, 'import', { items }, { userId: await newUser(world) });
    expect(result).toEqual({ imported: 1000, failed: 0, errors: [] });
    expect((await importedBy(world, job.jobId)).map(({ content }) => String(content))).toEqual(
      items.map(({ content }) => content),
    );
    expect(progress).toEqual([10, 20, 30, 40, 50, 60, 70, 80, 90, 100]);
  });

  it('replaces a short code that is already taken', async () => {
    const codes = ['a', 'b', 'a', 'c', 'b', 'a', 'd'];
    const items = Array.from({ length: 4 }, (_, n) => ({ content: `item ${n}` }));
    const { job, result } = await run(
      world,
      'import',
      { items },
      { userId: await newUser(world), services: { newShortCode: () => codes.shift() ?? 'e' } },
    );
    expect(result).toEqual({ imported: 4, failed: 0, errors: [] });
    const pastes = await importedBy(world, job.jobId);
    expect(pastes.map(({ position, content }) => [position, String(content)])).toEqual(
      items.map(({ content }, position) => [position, content]),
    );
    expect(pastes.map(({ short_code }) => short_code).toSorted()).toEqual(['a', 'b', 'c', 'd']);
  });

  it('fails when no unused short code is found, and keeps the created pastes', async () => {
    const services = { newShortCode: () => 'same' };
    const parameters = { items: [{ content: 'one' }, { content: 'two' }] };
    const options = { userId: await newUser(world), services };
    await expect(run(world, 'import', parameters, options)).rejects.toThrow(
      'No unused short codes were found.',
    );
    expect(await pasteCount(world)).toBe(1);
  });

  it('reports an item whose content is blocked, and makes pastes of the others', async () => {
    const by = { actor: 'ops/test', class: 'malware', reason: 'reported' } as const;
    await blockContent(world.db, contentHashOf(Buffer.from('bad')), by);
    const items = [{ content: 'one' }, { content: 'bad' }, { content: 'two' }, { content: 'bad' }];
    const { ending, result, job } = await run(world, 'import', { items }, { userId: await newUser(world) });
    expect(ending.status).toBe('partial');
    const error = { name: null, reason: 'the operator of this service has blocked this content' };
    expect(result).toEqual({
      imported: 2,
      failed: 2,
      errors: [
        { position: 1, ...error },
        { position: 3, ...error },
      ],
    });
    const made = await importedBy(world, job.jobId);
    expect(made.map(({ position }) => position)).toEqual([0, 2]);
  });
});
