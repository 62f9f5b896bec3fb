import { describe, expect, it } from '@jest/globals';
import { messageField } from '../src/secret-requests/message.ts';

const read = (text: string) => messageField.safeParse(text);

describe('the message of a request', () => {
  it.each([
    ['line breaks and tabs', 'The password\r\n\tof staging\u2028please', 'The password of staging please'],
    ['control characters', 'a\u0007\u001b[31mb\u0085c', 'a [31mb c'],
    ['a change of direction', 'the \u202egnp.exe\u202c of \u2067x\u2069', 'the gnp.exe of x'],
    ['what has no width', 'pass\u200bword\u2060\ufeff \u00ad\u{e0041}!', 'password !'],
    ['letters that are blank', 'a\u3164b\u115f', 'ab'],
    ['blank patterns and characters without a glyph', '\u2800a\ue000\u{e01ff}\u0378', 'a'],
    ['spaces at either end', ' \u00a0a\u3000b ', 'a b'],
    ['what covers the lines above', `a${'\u033f'.repeat(198)}b`, `a${'\u033f'.repeat(8)}b`],
    ['nothing that can be seen', '\u200b\u200b\n', ''],
    ['an accent, an emoji and Arabic', 'Le mot clé 🔑 كلمة السر', 'Le mot clé 🔑 كلمة السر'],
  ])('is one line without %s', (_, sent, kept) => {
    expect(read(sent)).toMatchObject({ success: true, data: kept });
  });

  it.each([
    'http://example.org',
    'HTTPS://EXAMPLE.ORG',
    'see ftp://x',
    'my-app://open',
    'https:\\\\example.org',
    'https:example.org',
    'https:/example.org',
    'https://192.0.2.1',
    'https://[2001:db8::1]/',
    'www.example.org',
    'WWW2.example.org',
    'example.org/login',
    'at example.org./login',
    'example.org?next=1',
    'example.org#a',
    'example.org:8443',
    '192.0.2.1/a',
    'xn--bcher-kva.example/a',
    'bücher.example/a',
    'mailto:ann@example.org',
    'ann@example.org',
    'ht\u200dtp://example.org',
    'exa\u00admple.org/a',
    'ｈｔｔｐｓ：／／example.org',
    'example。org/a',
    'example．org／a',
    'www。example。org',
  ])('has no link: %s', (text) => {
    const found = read(text);
    expect(found.success).toBe(false);
    expect(found.error?.issues).toMatchObject([{ message: 'must have no links and no addresses' }]);
  });

  it.each([
    'The password of the database, please.',
    'Please send config.json and .env, both of v1.2?',
    'Either/or: the key (e.g. AKIA…) / the secret',
    '50 % at 10:30; see No. 7!',
    'Dr. Adler asks for the data: name, tel: number',
    'user@host',
    'Was ist das Passwort? Danke.',
  ])('may be: %s', (text) => {
    expect(read(text)).toMatchObject({ success: true, data: text });
  });

  it('is read in time that grows with its length', () => {
    for (const text of ['a.'.repeat(100), 'a@'.repeat(100), ':'.repeat(200), 'w'.repeat(200)])
      expect(read(text).success).toBe(true);
    expect(read('x'.repeat(1_000_000)).success).toBe(false);
    expect(read('\n'.repeat(1_000_000)).success).toBe(false);
  });
});
