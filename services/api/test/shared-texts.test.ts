import { describe, expect, it } from '@jest/globals';
import { useApi } from './support/api.ts';

const bed = useApi();
const browse = (path: string) => fetch(bed.api.url + path, { headers: { accept: 'text/html,*/*;q=0.8' } });

describe('the form of a text that another program shares', () => {
  const shared = async (query: Readonly<Record<string, string>>) => {
    const markup = await (await browse(`/?${new URLSearchParams(query).toString()}`)).text();
    return {
      markup,
      text: /<textarea[^>]*>\n([^<]*)<\/textarea>/.exec(markup)?.[1],
      title: /name="title" value="([^"]*)"/.exec(markup)?.[1],
    };
  };

  it('begins with the text, its link and its title, which are escaped', async () => {
    const text = '</textarea><script>alert(1)</script>';
    const url = 'https://example.org/?a=1&b=2';
    const title = '"><b>';
    const page = await shared({ title, text, url });
    expect(page).toMatchObject({
      title: '&quot;&gt;&lt;b&gt;',
      text: '&lt;/textarea&gt;&lt;script&gt;alert(1)&lt;/script&gt;\nhttps://example.org/?a=1&amp;b=2',
    });
    expect(page.markup).not.toContain('<script>alert');
    expect((await shared({ text: `see ${url}`, url })).text).toBe('see https://example.org/?a=1&amp;b=2');
    expect((await shared({ url, title: 'x'.repeat(300) })).title).toBe('x'.repeat(200));
  });

  it('takes nothing else from the address, so that no link chooses the readers or the lifetime', async () => {
    const { markup } = await shared({ text: 'x', visibility: 'private', expires_in: '3600', syntax: 'rust' });
    const chosen = [...markup.matchAll(/<option value="([^"]*)" selected>/g)].map(([, value]) => value);
    expect(chosen).toEqual(['2592000']);
    expect(await (await browse('/?text=a&text=b')).text()).toContain('>\n</textarea>');
  });

  it('is what the app names for the sheet of Android, at its own address', async () => {
    const [, path = ''] = /rel="manifest" href="([^"]+)"/.exec(await (await browse('/')).text()) ?? [];
    const { share_target: target } = (await (await browse(path)).json()) as {
      share_target: { action: string; method: string };
    };
    expect(target).toMatchObject({ method: 'GET', params: { title: 'title', text: 'text', url: 'url' } });
    expect(new URL(target.action, bed.api.url + path).pathname).toBe('/');
  });
});

describe('the form of a secret', () => {
  /** The controls that the browser would send. */
  const sentBy = (markup: string) => {
    const without = markup.replaceAll(/<fieldset[^>]* disabled>.*?<\/fieldset>/gs, '');
    return [...without.matchAll(/<(?:input|select|textarea) id="(\w+)"/g)].map(([, id]) => id);
  };
  const begins = (markup: string) => ({
    burns: / id="burn" [^>]*checked/s.test(markup),
    expires: [...markup.matchAll(/<option value="([^"]*)" selected>/g)].map(([, value]) => value),
    sendsTitle: sentBy(markup).includes('title'),
    sendsSyntax: sentBy(markup).includes('syntax'),
  });
  const SECRET = { burns: true, expires: ['86400'], sendsTitle: false, sendsSyntax: false };

  it('is at /?secret: read once, one day, and nothing that tells of the content', async () => {
    for (const path of ['/?secret', '/?secret&text=no%20link%20writes%20a%20secret'])
      expect(begins(await (await browse(path)).text())).toEqual(SECRET);
    const text = { burns: false, expires: ['2592000'], sendsTitle: true, sendsSyntax: true };
    for (const path of ['/', '/?secret=no', '/?text=shared'])
      expect(begins(await (await browse(path)).text())).toEqual(text);
  });

  it('stays one when it is refused', async () => {
    const form = new FormData();
    for (const [name, value] of Object.entries({
      text: 'a',
      burn: 'true',
      expires_in: '86400',
      form_user: '',
    }))
      form.append(name, value);
    form.append('content', new Blob(['b']), 'b');
    const refused = await fetch(bed.api.url, {
      method: 'POST',
      headers: { accept: 'text/html' },
      body: form,
    });
    expect(refused.status).toBe(422);
    expect(begins(await refused.text())).toEqual(SECRET);
  });
});
