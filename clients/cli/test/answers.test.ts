import { mkdir, readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { useBed } from './support/bed.ts';
import { depositFor, env, newLinks, REQUEST, serveRequest, type Stored } from './support/requests.ts';

const bed = useBed();

/** Runs `answers` for these deposits. */
async function answers(
  make: (publicPart: string) => Promise<readonly Stored[]>,
  args: readonly string[] = [],
  tty: readonly 'stdout'[] = [],
) {
  const { own, publicPart } = await newLinks(bed);
  serveRequest(bed, await make(publicPart));
  return await bed.run(['answers', own, ...args], { env, tty });
}

const png = { name: 'a.png', bytes: Uint8Array.of(0xff, 0xd8, 1), syntax: null };
const two = async (publicPart: string) => [
  await depositFor(publicPart, { text: 'hunter2', title: 'door.txt' }, { code: 'oNe' }),
  await depositFor(publicPart, { attachments: [png] }, { code: 'tWo' }),
];

describe('pasteflow answers', () => {
  it('prints the one deposit byte for byte', async () => {
    const one = async (publicPart: string) => [await depositFor(publicPart, { text: 'hunter2\u001b[2J' })];
    expect(await answers(one)).toEqual({ code: 0, stdout: 'hunter2\u001b[2J', stderr: '' });
  });

  it('shows each deposit on a terminal, where none of them can act', async () => {
    const acting = async (publicPart: string) => [
      await depositFor(publicPart, { text: 'one\u001b[2J', title: '\u202egnp.exe' }, { code: 'oNe' }),
      ...(await two(publicPart)).slice(1),
    ];
    const { code, stdout, stderr } = await answers(acting, [], ['stdout']);
    expect(code).toBe(0);
    expect(stderr).toMatch(
      /^Deposit oNe, .+ ago:\nDeposit tWo, .+ ago:\nTo save its files: pasteflow answers /,
    );
    expect(stdout).toContain('one\\u{1b}[2J\n');
    expect(stdout).toContain('a.png <== (3 B that are no text');
    for (const hostile of ['\u001b', '\u202e']) expect(stdout + stderr).not.toContain(hostile);
  });

  it('mixes no deposits in one stream, and prints one by its receipt', async () => {
    const all = await answers(two);
    expect(all).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining('-o FOLDER') });
    expect(await answers(two, ['oNe'])).toEqual({ code: 0, stdout: 'hunter2', stderr: '' });
    expect(await answers(two, ['oThers'])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('no deposit with the receipt "oThers"'),
    });
  });

  it('fails for several files without a text, of which a pipe would get nothing', async () => {
    const files = async (publicPart: string) => [
      await depositFor(publicPart, { attachments: [png, { ...png, name: 'b.png' }] }),
    ];
    const { code, stdout, stderr } = await answers(files);
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toContain('-o FOLDER');
  });

  it('writes each deposit into a folder of its own, once', async () => {
    const folder = join(bed.home, 'secrets');
    const { own, publicPart } = await newLinks(bed);
    serveRequest(bed, await two(publicPart));
    expect(await bed.run(['answers', own, '-o', folder], { env })).toMatchObject({ code: 0, stdout: '' });
    expect((await stat(folder)).mode & 0o777).toBe(0o700);
    expect(await readFile(join(folder, 'oNe/door.txt'), 'utf8')).toBe('hunter2');
    expect(new Uint8Array(await readFile(join(folder, 'tWo/a.png')))).toEqual(png.bytes);
    const again = await bed.run(['answers', own, '-o', folder], { env });
    expect([again.code, again.stderr.split('already').length]).toEqual([0, 3]);
  });

  it('lets nobody else read what it writes into a folder that others can read', async () => {
    const folder = join(bed.home, 'shared');
    await mkdir(folder, { mode: 0o755 });
    const { code } = await answers(two, ['-o', folder]);
    expect(code).toBe(0);
    for (const name of ['oNe', 'tWo']) expect((await stat(join(folder, name))).mode & 0o777).toBe(0o700);
  });

  it.each(['../outside', '/etc/outside', 'a/../../outside', 'CON'])(
    'writes no file named %s, and the other deposits',
    async (name) => {
      const folder = join(bed.home, 'secrets');
      const hostile = async (publicPart: string) => [
        await depositFor(publicPart, { attachments: [{ ...png, name }, png] }, { code: 'bAd' }),
        ...(await two(publicPart)),
      ];
      const { code, stderr } = await answers(hostile, ['-o', folder]);
      expect([code, stderr]).toEqual([1, expect.stringMatching(/bAd: The name .+ answers \S+ bAd --json$/m)]);
      expect((await readdir(folder)).toSorted()).toEqual(['oNe', 'tWo']);
      expect(await readdir(bed.home)).toEqual(['secrets']);
    },
  );

  it('prints JSON with what is in each deposit, and the address that opens it', async () => {
    const { code, stdout } = await answers(two, ['--json']);
    expect(code).toBe(0);
    const [one, other] = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(one).toMatchObject({ short_code: 'oNe', files: [{ name: 'door.txt', text: 'hunter2' }] });
    expect(other).toMatchObject({ files: [{ name: 'a.png', base64: '/9gB' }] });
    expect(one!.url).toMatch(new RegExp(`^${bed.url}/oNe#[\\w]{43,44}$`));
    expect(one).not.toHaveProperty('wrapped_key');
    expect((await bed.run(['cat', String(one!.url)], { env })).stdout).toBe('hunter2');
  });

  it('opens no deposit whose key was swapped, and all others', async () => {
    const swapped = async (publicPart: string) => {
      const [one, other] = await two(publicPart);
      const third = await depositFor(publicPart, { text: 'third' }, { code: 'tHird' });
      const foreign = await depositFor(
        publicPart,
        {},
        { code: 'fOreign', request: 'aaaaaaaaaaaaaaaaaaaaaa' },
      );
      return [
        { ...one!, wrapped_key: other!.wrapped_key },
        foreign,
        { ...third, short_code: 'nOKey', wrapped_key: 7 as never },
        third,
      ];
    };
    const { code, stdout, stderr } = await answers(swapped, ['--json']);
    expect([code, stdout.trim().split('\n').length]).toEqual([1, 1]);
    expect(JSON.parse(stdout)).toMatchObject({ short_code: 'tHird' });
    expect(stderr).toMatch(
      /oNe: The key is wrong, the paste was changed.*\n.*fOreign: This key does not open the deposit.*\n.*nOKey: This key/,
    );
  });

  it('says which deposits have gone', async () => {
    const gone = async (publicPart: string) => [
      { ...(await depositFor(publicPart, { text: 'x' }, { code: 'gOne' })), is_there: false },
      {
        ...(await depositFor(publicPart, { text: 'y' }, { code: 'fAiled' })),
        is_there: false,
        status: 'FAILED',
      },
      await depositFor(publicPart, { text: 'here' }, { code: 'hEre' }),
    ];
    expect(await answers(gone)).toEqual({
      code: 0,
      stdout: 'here',
      stderr:
        'gOne: It was deleted or taken down, or has expired.\nfAiled: The service could not store it. Ask for it again.\n',
    });
  });

  it('fails when nothing is there to open, because a pipe would get an empty secret', async () => {
    const gone = async (publicPart: string) => [
      { ...(await depositFor(publicPart, { text: 'x' }, { code: 'gOne' })), is_there: false },
    ];
    const there = async (publicPart: string) => [
      ...(await gone(publicPart)),
      await depositFor(publicPart, { text: 'here' }, { code: 'hEre' }),
    ];
    for (const [all, args] of [
      [gone, []],
      [gone, ['-o', join(bed.home, 'f')]],
      [there, ['gOne']],
    ] as const) {
      const { code, stdout, stderr } = await answers(all, [...args]);
      expect([code, stdout, stderr]).toEqual([
        1,
        '',
        'gOne: It was deleted or taken down, or has expired.\n',
      ]);
    }
    const nothing = await answers(async () => []);
    expect([nothing.code, nothing.stderr]).toEqual([1, expect.stringContaining('Nothing has arrived yet')]);
    expect((await answers(async () => [], ['-o', join(bed.home, 'f')])).code).toBe(0);
  });

  it.each([
    ['no list', {}, 'has not answered with a list'],
    [
      'a code that leads elsewhere',
      { deposits: [{ short_code: '../../x' }] },
      'is not the code of a deposit',
    ],
    ['no code', { deposits: [{}] }, 'is not the code of a deposit'],
  ])('refuses %s from a server', async (_, body, message) => {
    const { own } = await newLinks(bed);
    bed.script(
      (_seen, res) =>
        void res.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body)),
    );
    const { code, stdout, stderr } = await bed.run(['answers', own, '-o', join(bed.home, 'f')], { env });
    expect([code, stdout, stderr]).toEqual([1, '', expect.stringContaining(message)]);
  });

  it('sends nothing for a link of another server, a damaged one, or what is none', async () => {
    const { own, privatePart } = await newLinks(bed);
    for (const [argument, message] of [
      [`https://elsewhere.example/my/requests/${REQUEST}#${privatePart}`, 'belongs to another server'],
      [own.slice(0, -1), 'is not complete'],
      [`${bed.url}/my/requests/short#${privatePart}`, 'Name a request by its id'],
      [
        `${bed.url.replace('//', '//you@')}/my/requests/${REQUEST}#${privatePart}`,
        'Name a request by its id',
      ],
    ] as const) {
      const { code, stdout, stderr } = await bed.run(['answers', argument], { env });
      expect([code, stdout, stderr]).toEqual([2, '', expect.stringContaining(message)]);
      expect(stderr).not.toContain(privatePart.slice(0, 20));
    }
    expect((await bed.run(['answers', own])).stderr).toContain('pasteflow login');
    expect(bed.requests).toEqual([]);
  });
});
