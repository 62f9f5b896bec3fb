import { describe, expect, it } from '@jest/globals';
import { keyOfFragment, openSealed, parseSealedText, type Message } from '@pasteflow/sealed';
import { sealForm } from '../browser/sealed/seal-form.ts';

const form = { text: '', file: undefined, title: '', syntax: '', password: '', burn: false };

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
    const file = new File(['\ufefftext'], 'notes.txt');
    expect(await opened(await sealForm({ ...form, file }))).toMatchObject({
      text: '\ufefftext',
      attachments: [],
    });
  });

  it('any other file as an attachment, byte for byte', async () => {
    const bytes = new Uint8Array([0, 255, 10]);
    const file = new File([bytes], 'picture.png');
    expect(await opened(await sealForm({ ...form, file }))).toMatchObject({
      text: '',
      attachments: [{ name: 'picture.png', bytes }],
    });
  });

  it('for burning after reading, which everybody can read in the document', async () => {
    const { body } = await sealForm({ ...form, text: 'x', burn: true });
    expect(parseSealedText(await body.text()).adata[3]).toBe(1);
  });
});
