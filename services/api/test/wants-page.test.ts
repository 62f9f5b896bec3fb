import type { IncomingMessage } from 'node:http';
import { describe, expect, it } from '@jest/globals';
import { wantsPage } from '../src/http/request/wants-page.ts';

const wanted = (accept?: string) => wantsPage({ headers: { accept } } as IncomingMessage);

describe('a request wants a page', () => {
  it.each([
    ['Chromium', 'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8'],
    ['Firefox', 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8'],
    ['Lynx', 'text/html, text/plain, text/sgml, */*;q=0.01'],
    ['a lower quality', 'application/json, text/html;q=0.5'],
    ['other letters', 'TEXT/HTML; Q=0.7'],
    ['parameters before the quality', 'text/html;level=1;q=0.3'],
  ])('when its Accept names text/html: %s', (_name, accept) => expect(wanted(accept)).toBe(true));

  it.each([
    ['no Accept', undefined],
    ['curl and wget', '*/*'],
    ['any text', 'text/*'],
    ['JSON', 'application/json'],
    ['a quality of 0', 'text/html;q=0, */*'],
    ['a preference for plain text', 'text/html;q=0.8, text/plain'],
    ['a malformed quality', 'text/html;q=high'],
    ['a quality above 1', 'text/html;q=2'],
    ['a longer type', 'text/html5'],
    ['an empty list', ',,,;;,'],
    ['a very long list', `${'a/b,'.repeat(1000)}text/html`],
  ])('and otherwise gets the bytes: %s', (_name, accept) => expect(wanted(accept)).toBe(false));
});
