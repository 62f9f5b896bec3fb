import { describe, expect, it } from '@jest/globals';
import { defaultHouse, expiryUnlessChosen, type House, mayStayForEver } from '@pasteflow/domain';
import { writeHouseFile } from '@pasteflow/dev-stack/testing';
import { loadConfig } from '@pasteflow/runtime';
import { houseEnv, houseErrors } from '../src/index.ts';

const DAY = 86_400;
const SVG = '<svg xmlns="http://www.w3.org/2000/svg"/>';

async function read(
  rules: object | string | Buffer,
  logos?: Record<string, string | Buffer>,
): Promise<House> {
  const file = await writeHouseFile(rules, logos);
  try {
    return loadConfig(houseEnv, { HOUSE: file.path });
  } finally {
    await file.remove();
  }
}

describe('HOUSE', () => {
  it('may be missing, and every key of its file, too', async () => {
    expect(loadConfig(houseEnv, {})).toEqual(defaultHouse);
    expect(await read({})).toEqual(defaultHouse);
  });

  it('is read whole', async () => {
    const links = { imprint: 'https://example.org/imprint', abuse: 'abuse@example.org' };
    const house = await read(
      {
        name: ' Paste of Example ',
        logo: 'logo.svg',
        links,
        expiry: { default: 'never', max: 90 * DAY },
        anonymous: { max_expiry: DAY, max_bytes: 1000, burn_only: true },
        max_token_days: 7,
      },
      { 'logo.svg': SVG },
    );
    expect(house).toEqual({
      name: 'Paste of Example',
      logo: { content: Buffer.from(SVG), type: 'image/svg+xml' },
      links: { ...defaultHouse.links, ...links },
      expiry: { default: null, max: 90 * DAY, never: true },
      anonymous: { maxExpiry: DAY, maxBytes: 1000, burnOnly: true },
      maxTokenSeconds: 7 * DAY,
    });
  });

  it('keeps a paste of whose time nobody says anything for no longer than the longest time', async () => {
    const house = await read({ expiry: { max: 7 * DAY }, anonymous: { max_expiry: DAY } });
    expect([expiryUnlessChosen(house, false), expiryUnlessChosen(house, true)]).toEqual([7 * DAY, DAY]);
    const forEver = await read({ expiry: { default: 'never' }, anonymous: { max_expiry: DAY } });
    expect([expiryUnlessChosen(forEver, false), expiryUnlessChosen(forEver, true)]).toEqual([null, DAY]);
    expect([mayStayForEver(forEver, false), mayStayForEver(forEver, true)]).toEqual([true, false]);
  });

  it('may name one key in several sections', async () => {
    const text =
      '{"name": "\\"links\\":", "links": {"terms": null}, "expiry": {"max": 60, "never": true}, "anonymous": {"burn_only": true}}';
    expect(await read(text)).toMatchObject({ name: '"links":' });
  });

  it('may begin with the byte order mark of an editor', async () => {
    expect(await read('\uFEFF{"name": "Größe"}')).toMatchObject({ name: 'Größe' });
  });

  it.each([
    ['an encoding of old', Buffer.from('{"name": "Größe"}', 'latin1'), 'the file is not UTF-8'],
    ['the encoding of another editor', Buffer.from('\uFEFF{}', 'utf16le'), 'the file is not UTF-8'],
    ['no JSON', '{"name": }', 'the file is no JSON'],
    ['a list', '[]', 'the file must be a JSON object'],
    ['a key that it does not know', { nmae: 'x' }, 'nmae is no rule of a house; remove it'],
    ['one in a section', { expiry: { maximum: 5 } }, 'expiry.maximum is no rule of a house'],
    ['a section that is a text', { links: 'x' }, 'links must be a JSON object'],
    [
      'a key twice',
      '{"expiry": {"never": false}, "name": "}\\"{", "expiry": {"max": 60}}',
      'expiry is given twice',
    ],
    ['one twice in a section', '{"links": {"terms": null, "t\\u0065rms": null}}', 'terms is given twice'],
    ['two lines of name', { name: 'a\nb' }, 'name must be one line'],
    ['a long name', { name: 'x'.repeat(61) }, 'name must be one line of 1 to 60 characters'],
    ['a link that is no URL', { links: { terms: 'javascript:alert(1)' } }, 'links.terms must be a URL'],
    ['a contact that is neither', { links: { abuse: 'nobody' } }, 'or an email address'],
    ['a time of a text', { expiry: { max: '7d' } }, 'expiry.max must be whole seconds from 60 to 31536000'],
    [
      'a default beyond the longest',
      { expiry: { default: 7200, max: 3600 } },
      'expiry.default must be at most',
    ],
    ['never where it is forbidden', { expiry: { default: 'never', never: false } }, 'must not be "never"'],
    [
      'a longer time for strangers',
      { expiry: { max: 60 }, anonymous: { max_expiry: 61 } },
      'anonymous.max_expiry',
    ],
    ['a part of a day', { max_token_days: 0.5 }, 'max_token_days must be whole days'],
    ['a logo elsewhere', { logo: '../logo.svg' }, 'logo must be the name of an .svg or .png file'],
    ['a logo that is missing', { logo: 'logo.png' }, 'logo.png cannot be read: ENOENT'],
    ['a logo of another kind', { logo: 'wrong.png' }, 'wrong.png is no PNG image'],
  ])('refuses %s', async (_, rules, message) => {
    await expect(read(rules, { 'wrong.png': SVG })).rejects.toThrow(message);
  });

  it('names the file that is missing, and one that is too long', async () => {
    expect(() => loadConfig(houseEnv, { HOUSE: '/missing/house.json' })).toThrow(
      'HOUSE is "/missing/house.json": /missing/house.json cannot be read: ENOENT',
    );
    await expect(read({ name: 'x'.repeat(70_000) })).rejects.toThrow('has more than 65536 bytes');
  });
});

describe('the rules of a new paste', () => {
  const house: House = {
    ...defaultHouse,
    expiry: { default: DAY, max: 7 * DAY, never: false },
    anonymous: { maxExpiry: DAY, maxBytes: 10, burnOnly: true },
  };
  const pathsOf = (paste: Parameters<typeof houseErrors>[1], isAnonymous: boolean) =>
    houseErrors(house, paste, isAnonymous).map(({ path }) => path);

  it('are none for what the house allows', () => {
    expect(houseErrors(defaultHouse, { expiresInSeconds: null, sizeBytes: 1e9 }, true)).toEqual([]);
    expect(pathsOf({ expiresInSeconds: 7 * DAY, sizeBytes: 11 }, false)).toEqual([]);
    expect(pathsOf({ expiresInSeconds: DAY, burn: true, sizeBytes: 10 }, true)).toEqual([]);
  });

  it('name each field that breaks one', () => {
    expect(pathsOf({ expiresInSeconds: null, sizeBytes: 1 }, false)).toEqual(['expires_in']);
    expect(pathsOf({ expiresInSeconds: 7 * DAY + 1, sizeBytes: 1 }, false)).toEqual(['expires_in']);
    expect(pathsOf({ expiresInSeconds: DAY + 1, sizeBytes: 11 }, true)).toEqual([
      'expires_in',
      'burn',
      'content',
    ]);
    expect(houseErrors(house, { expiresInSeconds: DAY + 1, burn: true, sizeBytes: 1 }, true)).toEqual([
      { path: 'expires_in', message: `must be at most ${DAY} seconds for pastes without a token` },
    ]);
  });
});
