import { describe, expect, it } from '@jest/globals';
import { archivedName } from '../src/types/export/formats/file-name.ts';

const named = (title: string | null): string => archivedName({ shortCode: 'code', title });

describe('the name of an exported file', () => {
  it.each([
    [null, 'code.txt'],
    ['', 'code.txt'],
    ['Greeting', 'code-Greeting.txt'],
    ['main.rs', 'code-main.rs'],
    ['src/lib/main.test.ts', 'code-src_lib_main.test.ts'],
    ['../../etc/passwd', 'code-etc_passwd.txt'],
    ['.bashrc', 'code.bashrc'],
    ['..', 'code.txt'],
    ['C:\\x:y*?.exe', 'code-C_x_y.exe'],
    ['größe 日本', 'code-größe_日本.txt'],
    ['o\u0308', 'code-ö.txt'],
    ['a\n\u0000\u202eb', 'code-a_b.txt'],
    ['-rf *', 'code-rf.txt'],
    ['v1.0 final.', 'code-v1.0_final.txt'],
    ['x.averylongextension', 'code-x.averylongextension.txt'],
    ['😀', 'code.txt'],
    ['x'.repeat(200), `code-${'x'.repeat(50)}.txt`],
  ])('for the title %j it is %j', (title, expected) => {
    expect(named(title)).toBe(expected);
  });

  it('is valid on every file system for any title', () => {
    const characters = Array.from({ length: 0x2100 }, (_, code) => String.fromCharCode(code));
    const bad = characters
      .flatMap((one) => [one, `a${one}b`, `${one}.${one}`, `../${one.repeat(200)}`])
      .filter((title) => {
        const name = named(title);
        const isSafe = /^code(-[\p{L}\p{M}\p{N}._-]+)?\.[A-Za-z0-9]{1,10}$/u.test(name);
        return !isSafe || name.includes('..') || Buffer.byteLength(name) > 255;
      });
    expect(bad).toEqual([]);
  });
});
