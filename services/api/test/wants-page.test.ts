import type { IncomingMessage } from 'node:http';
import { describe, expect, it } from '@jest/globals';
import { wantsPage } from '../src/http/request/accept.ts';

const wanted = (accept?: string) => wantsPage({ headers: { accept } } as IncomingMessage);

describe('a request wants a page', () => {
  it.each([
    ['Chromium', 'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8'],
    ['Firefox', 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8'],
    ['Lynx', 'text/html, text/plain, text/sgml, text/css, */*;q=0.01'],
    ['w3m', 'text/html, text/*;q=0.5, image/*, application/*'],
    ['Edge 12', 'text/html, application/xhtml+xml, image/gif, image/jxr, */*'],
    ['a lower quality', 'application/json, text/html;q=0.5'],
    ['other letters', 'TEXT/HTML; Q=0.7'],
    ['parameters before the quality', 'text/html;level=1;q=0.3'],
    ['the same quality as plain text', 'text/plain;q=0.5, text/html;q=0.5'],
    ['spaces and tabs', ' text/html\t; q=0.9 , */*'],
    ['empty elements', ',, text/html ,,;'],
    ['an unknown parameter without a value', 'text/html;charset'],
    ['a name twice, of which the last counts', 'text/html;q=0, text/html'],
    ['names of JavaScript', '__proto__, constructor;q=1, text/html'],
    ['the longest list that is read', `${'a/b,'.repeat(247)}text/html`],
  ])('when its Accept names text/html: %s', (_name, accept) => expect(wanted(accept)).toBe(true));

  it.each([
    ['no Accept', undefined],
    ['curl and wget', '*/*'],
    ['Java 17', 'text/html, image/gif, image/jpeg, */*; q=0.2'],
    ['Java 8', 'text/html, image/gif, image/jpeg, *; q=.2, */*; q=.2'],
    ['any text', 'text/*'],
    ['JSON', 'application/json'],
    ['a quality of 0', 'text/html;q=0, */*'],
    ['a preference for plain text', 'text/html;q=0.8, text/plain'],
    ['a malformed quality', 'text/html;q=high'],
    ['a quality above 1', 'text/html;q=2'],
    ['a negative quality', 'text/html;q=-1'],
    ['an empty quality', 'text/html;q='],
    ['a quality in letters', 'text/html;q=abc'],
    ['a quality of four decimals', 'text/html;q=0.1234'],
    ['a quality in hexadecimal', 'text/html;q=0x1'],
    ['a quality of 0.000', 'text/html;q=0.000'],
    ['a name twice, the last with a quality of 0', 'text/html, text/html;q=0'],
    ['plain text that is much preferred', 'text/html;q=0.1, text/plain'],
    ['no slash', 'text html'],
    ['a wildcard of subtypes beside JSON', 'application/json, text/*;q=0.9'],
    ['quotes around the type', '"text/html"'],
    ['only separators', ';q=1;q=1,;'],
    ['a longer type', 'text/html5'],
    ['an empty list', ',,,;;,'],
    ['a longer list than is read', `${'a/b,'.repeat(248)}text/html`],
    ['8 KiB in one word', `text/html;x=${'y'.repeat(8192)}`],
    ['8 KiB of separators', ';'.repeat(8192)],
    ['8 KiB of types', `text/html,${'a/b;q=0.1,'.repeat(819)}`],
  ])('and otherwise gets the bytes: %s', (_name, accept) => expect(wanted(accept)).toBe(false));
});
