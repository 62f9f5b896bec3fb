import { describe, expect, test } from '@jest/globals';
import { deflateRawSync } from 'node:zlib';
import {
  fragmentOfKey,
  keyOfFragment,
  openSealed,
  parseSealedText,
  seal,
  textOfSealed,
  toSealed,
  type Message,
  type SealedPaste,
  type SecretKey,
} from '../src/index.ts';
import { privateBinPaste, recorded, recordedPastes } from './fixtures.ts';

const message: Message = { text: 'Grüße\n'.repeat(1000), attachments: [], title: null, syntax: null };

function keyOf(fragment: string): SecretKey {
  const key = keyOfFragment(fragment);
  if (key === null) throw new Error(`${fragment} is no key.`);
  return key;
}

describe('a paste that PBinCLI has made', () => {
  test.each(recordedPastes)('is opened: $name', async ({ body, key, password, text, attachment }) => {
    const document = toSealed(JSON.parse(body));
    const opened = await openSealed(document, keyOf(key), { password });
    expect(opened.text).toBe(text);
    expect(
      opened.attachments.map(({ name, bytes }) => ({ name, hex: Buffer.from(bytes).toString('hex') })),
    ).toEqual(attachment === undefined ? [] : [attachment]);
  });

  test('keeps its authenticated data byte for byte', () => {
    for (const { body } of recordedPastes) {
      const [, adata] = /"adata":(.*),"ct"/.exec(body) ?? [];
      expect(textOfSealed(toSealed(JSON.parse(body)))).toContain(`"adata":${adata},"ct"`);
    }
  });
});

test('the files of a paste that the script of PrivateBin 2 has made are opened, in their order', async () => {
  const { body, key } = privateBinPaste;
  const { text, attachments } = await openSealed(toSealed(JSON.parse(body)), keyOf(key));
  expect(text).toBe('see the files');
  expect(attachments.map(({ name, bytes }) => [name, Buffer.from(bytes).toString('latin1')])).toEqual([
    ['notes.txt', Buffer.from('notes: Grüße\n').toString('latin1')],
    ['../pic ture.png', '\u0089PNG\u0000ÿ'],
    ['empty', ''],
  ]);
});

describe('a message', () => {
  test('comes back with its title, language and attachments', async () => {
    const attachments = [
      { name: 'a.bin', bytes: new Uint8Array([0, 255, 10]), syntax: null },
      { name: 'b.bin', bytes: new Uint8Array(100_000).fill(7), syntax: 'json' },
    ];
    const whole = { ...message, attachments, title: 'A title', syntax: 'rust' };
    const { document, key } = await seal(whole, { password: 'pässword' });
    expect(document.adata.slice(1)).toEqual(['plaintext', 0, 0]);
    expect(await openSealed(parseSealedText(textOfSealed(document)), key, { password: 'pässword' })).toEqual(
      whole,
    );
  });

  test('says in the authenticated data that it burns, and that PrivateBin shows it as Markdown', async () => {
    const { document } = await seal({ ...message, syntax: 'markdown' }, { burn: true });
    expect(document.adata.slice(1)).toEqual(['markdown', 0, 1]);
  });

  test('is closed to another key, another password, and no password', async () => {
    const { document, key } = await seal(message, { password: 'right' });
    const other = key.map((byte) => byte ^ 1);
    await expect(openSealed(document, other, { password: 'right' })).rejects.toThrow('is wrong');
    await expect(openSealed(document, key, { password: 'wrong' })).rejects.toThrow('is wrong');
    await expect(openSealed(document, key)).rejects.toThrow('is wrong');
  });

  test.each([
    ['the formatter', (d: SealedPaste) => ({ ...d, adata: [d.adata[0], 'markdown', 0, 0] as const })],
    ['the burn flag', (d: SealedPaste) => ({ ...d, adata: [d.adata[0], 'plaintext', 0, 1] as const })],
    [
      'a byte of the ciphertext',
      (d: SealedPaste) => ({ ...d, ct: `${d.ct.startsWith('A') ? 'B' : 'A'}${d.ct.slice(1)}` }),
    ],
  ])('is closed when somebody has changed %s', async (_, change) => {
    const { document, key } = await seal(message);
    await expect(openSealed(change(document), key)).rejects.toThrow('was changed');
  });

  test('that decompresses to more than the bound is refused', async () => {
    const zeros = { ...message, text: '0'.repeat(3_000_000) };
    const { document, key } = await seal(zeros);
    expect(deflateRawSync(zeros.text).length).toBeLessThan(10_000);
    await expect(openSealed(document, key, { maxBytes: 2_000_000 })).rejects.toThrow(
      'larger than 2000000 bytes',
    );
    expect((await openSealed(document, key)).text).toHaveLength(3_000_000);
  });
});

describe('the key in a link', () => {
  test('survives the ways in which it is written', () => {
    const bytes = new Uint8Array(32).fill(9);
    const text = fragmentOfKey(bytes);
    for (const fragment of [text, `#${text}`, `#-${text}`, `#${text}&utm_source=x`])
      expect(keyOfFragment(fragment)).toEqual(bytes);
  });

  test('gets back the zero bytes that old encoders drop', () => {
    const bytes = new Uint8Array(32).fill(9).fill(0, 0, 2);
    expect(fragmentOfKey(bytes)).toMatch(/^11/);
    expect(keyOfFragment(fragmentOfKey(bytes).slice(2))).toEqual(bytes);
  });

  test.each(['', '#', '#L12', '#0OIl', '1'.repeat(65), 'z'.repeat(60), 'ü'])('is not %j', (text) => {
    expect(keyOfFragment(text)).toBeNull();
  });
});

describe('a document is refused', () => {
  const valid = JSON.parse(recorded('text').body) as Record<string, unknown>;
  const cipher = (valid['adata'] as unknown[][])[0] as unknown[];
  const withCipher = (index: number, value: unknown) => ({
    ...valid,
    adata: [cipher.with(index, value), 'plaintext', 0, 0],
  });

  test.each<[string, unknown, string]>([
    ['that is no object', [], ''],
    ['of version 1', { ...valid, v: 1 }, 'v'],
    ['without ciphertext', { ...valid, ct: '' }, 'ct'],
    ['whose ciphertext is not base64', { ...valid, ct: 'Zm9vYmFyYmF6*A==' }, 'ct'],
    ['whose adata is no list', { ...valid, adata: {} }, 'adata'],
    ['with a fifth element in adata', { ...valid, adata: [cipher, 'plaintext', 0, 0, 0] }, 'adata'],
    ['with a nested formatter', { ...valid, adata: [cipher, ['plaintext'], 0, 0] }, 'adata.1'],
    ['with a flag that is true', { ...valid, adata: [cipher, 'plaintext', 0, true] }, 'adata.3'],
    ['with a ninth cipher parameter', { ...valid, adata: [[...cipher, 1], 'plaintext', 0, 0] }, 'adata.0'],
    ['with an IV of 17 bytes', withCipher(0, 'A'.repeat(28)), 'adata.0.0'],
    ['with an empty salt', withCipher(1, ''), 'adata.0.1'],
    ['with 10,000 rounds', withCipher(2, 10_000), 'adata.0.2'],
    ['with half a round', withCipher(2, 100_000.5), 'adata.0.2'],
    ['with more rounds than a reader can wait for', withCipher(2, 10_000_001), 'adata.0.2'],
    ['with rounds as text', withCipher(2, '100000'), 'adata.0.2'],
    ['with a key of 64 bits', withCipher(3, 64), 'adata.0.3'],
    ['with a tag of 32 bits', withCipher(4, 32), 'adata.0.4'],
    ['with another cipher', withCipher(5, 'des'), 'adata.0.5'],
    ['with a mode that authenticates nothing', withCipher(6, 'ctr'), 'adata.0.6'],
    ['with an unknown compression', withCipher(7, 'zstd'), 'adata.0.7'],
  ])('%s', (_, value, path) => {
    expect(() => toSealed(value)).toThrow(expect.objectContaining({ name: 'SealedFormatError', path }));
  });

  test('in any text but its own', () => {
    const text = textOfSealed(toSealed(valid));
    expect(textOfSealed(parseSealedText(text))).toBe(text);
    for (const other of [
      ` ${text}`,
      text.replace('100000', '1e5'),
      `{"v":2,${text.slice(1)}`,
      `${text}x`,
      '',
    ])
      expect(() => parseSealedText(other)).toThrow('must be');
  });
});
