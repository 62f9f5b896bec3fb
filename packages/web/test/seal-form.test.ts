import { describe, expect, it } from '@jest/globals';
import { keyOfFragment, openSealed, parseSealedText, type Message } from '@pasteflow/sealed';
import { sealForm } from '../browser/sealed/seal-form.ts';

const form = { text: '', files: [], title: '', syntax: '', password: '', burn: false };

async function opened({ body, key }: Awaited<ReturnType<typeof sealForm>>, password = ''): Promise<Message> {
  return await openSealed(parseSealedText(await body.text()), keyOfFragment(key)!, { password });
}

describe('the form encrypts', () => {
  it('a text with its title, its language and a password', async () => {
    const sealed = await sealForm({ ...form, text: 'a\r\nb', title: 'T', syntax: 'rust', password: 'p' });
    expect(await opened(sealed, 'p')).toEqual({
      text: 'a\r\nb',
      title: 'T',
      syntax: 'rust',
      attachments: [],
    });
  });

  it('a file of text as the text, with its byte order mark', async () => {
    const files = [{ name: 'notes.txt', syntax: '', content: new Blob(['\ufefftext']) }];
    expect(await opened(await sealForm({ ...form, files }))).toMatchObject({
      title: 'notes.txt',
      text: '\ufefftext',
      attachments: [],
    });
  });

  it('any other file as an attachment, byte for byte', async () => {
    const bytes = new Uint8Array([0, 255, 10]);
    const files = [{ name: 'picture.png', syntax: '', content: new Blob([bytes]) }];
    expect(await opened(await sealForm({ ...form, files }))).toMatchObject({
      text: '',
      attachments: [{ name: 'picture.png', bytes }],
    });
  });

  it('several files as attachments in their order, with the title and the languages that were chosen', async () => {
    const files = [
      { name: 'b.txt', syntax: 'rust', content: new Blob(['text']) },
      { name: 'a/empty', syntax: '', content: new Blob([]) },
    ];
    expect(await opened(await sealForm({ ...form, files, title: 'T', syntax: 'go' }))).toEqual({
      title: 'T',
      syntax: null,
      text: '',
      attachments: [
        { name: 'b.txt', syntax: 'rust', bytes: new TextEncoder().encode('text') },
        { name: 'a/empty', syntax: null, bytes: new Uint8Array() },
      ],
    });
  });

  it('for burning after reading, which everybody can read in the document', async () => {
    const { body } = await sealForm({ ...form, text: 'x', burn: true });
    expect(parseSealedText(await body.text()).adata[3]).toBe(1);
  });
});
