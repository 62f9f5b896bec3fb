import { fragmentOfKey, messageOfFiles, seal, textOfSealed, type Message } from '@pasteflow/sealed';
import type { FormFile } from '../form/form-file.ts';

/** What a form for a new paste holds. */
export interface FormContent {
  readonly text: string;
  readonly files: readonly FormFile[];
  readonly title: string;
  readonly syntax: string;
  readonly password: string;
  readonly burn: boolean;
}

/** The body of the request, and the part of the link behind `#`, which no request has. */
export async function sealForm(content: FormContent): Promise<{ readonly body: Blob; readonly key: string }> {
  const { document, key } = await sealContent(content);
  return { body: new Blob([textOfSealed(document)]), key: fragmentOfKey(key) };
}

/** The document, and its key as it is. */
export async function sealContent(content: FormContent): Promise<Awaited<ReturnType<typeof seal>>> {
  return await seal(await messageOf(content), content);
}

/** One file: its name is the title, where there is no other. */
async function messageOf({ text, files, ...fields }: FormContent): Promise<Message> {
  const title = fields.title === '' ? null : fields.title;
  if (files.length === 0) return { text, attachments: [], title, syntax: fields.syntax || null };
  const attachments = await Promise.all(
    files.map(async ({ name, syntax, content }) => ({
      name,
      syntax: syntax || null,
      bytes: new Uint8Array(await content.arrayBuffer()),
    })),
  );
  const [only] = files;
  return messageOfFiles(attachments, files.length === 1 ? (title ?? only?.name ?? null) : title);
}
