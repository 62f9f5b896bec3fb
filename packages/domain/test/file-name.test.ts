import { describe, expect, it } from '@jest/globals';
import { fileNameOf } from '../src/index.ts';

describe('the name of the file of a paste', () => {
  it.each([
    [null, 'code.txt'],
    ['', 'code.txt'],
    ['Meeting notes', 'Meeting_notes.txt'],
    ['Makefile', 'Makefile'],
    ['.gitignore', '.gitignore'],
    ['.env.local', '.env.local'],
    ['.con', 'code.txt'],
    ['メモ', 'メモ.txt'],
    ['main.rs', 'main.rs'],
    ['src/lib/main.test.ts', 'src_lib_main.test.ts'],
    ['../../etc/passwd', 'etc_passwd'],
    ['.bashrc', '.bashrc'],
    ['..', 'code.txt'],
    ['C:\\x:y*?.exe', 'C_x_y.exe'],
    ['größe 日本', 'größe_日本.txt'],
    ['o\u0308', 'ö.txt'],
    ['a\n\u0000\u202eb', 'a_b.txt'],
    ['-rf *', 'rf.txt'],
    ['v1.0 final.', 'v1.0_final.txt'],
    ['x.averylongextension', 'x.averylongextension'],
    ['😀', 'code.txt'],
    ['हिन्दी नोट्स.md', 'हिन्दी_नोट्स.md'],
    ['தமிழ்.py', 'தமிழ்.py'],
    ['re\u0301sume\u0301.txt', 'résumé.txt'],
    ['می\u200cخواهم.txt', 'می\u200cخواهم.txt'],
    ['CON', 'code.txt'],
    ['aux.tar.gz', 'code.gz'],
    ['lpt9.md', 'code.md'],
    ['com¹', 'code.txt'],
    ['nul .txt', 'code.txt'],
    ['console.log', 'console.log'],
    ['com10', 'com10'],
    [`${'a'.repeat(120)}.txt`, `${'a'.repeat(120)}.txt`],
    [`${'x'.repeat(300)}.tsx`, `${'x'.repeat(180)}.tsx`],
    [`${'日'.repeat(100)}.tsx`, `${'日'.repeat(60)}.tsx`],
  ])('is for the title %j %j', (title, expected) => {
    expect(fileNameOf(title, 'code')).toBe(expected);
  });

  it('is valid on every file system for any title', () => {
    const characters = Array.from({ length: 0x2100 }, (_, code) => String.fromCharCode(code));
    const bad = characters
      .flatMap((one) => [one, `a${one}b`, `${one}.${one}`, `../${one.repeat(200)}`])
      .filter((title) => {
        const name = fileNameOf(title, 'code');
        const isSafe = /^\.?[\p{L}\p{N}][\p{L}\p{M}\p{N}\p{Join_C}._-]*$/u.test(name);
        return !isSafe || name.includes('..') || Buffer.byteLength(name) > 200;
      });
    expect(bad).toEqual([]);
  });
});
