import { fragmentOfKey, messageOfFile, seal, textOfSealed, type Message } from '@pasteflow/sealed';

/** What a form for a new paste holds. */
export interface FormContent {
  readonly text: string;
  readonly file: File | undefined;
  readonly title: string;
  readonly syntax: string;
  readonly password: string;
  readonly burn: boolean;
}

/** The body of the request, and the part of the link behind `#`, which no request has. */
export async function sealForm(content: FormContent): Promise<{ readonly body: Blob; readonly key: string }> {
  const { document, key } = await seal(await messageOf(content), content);
  return { body: new Blob([textOfSealed(document)]), key: fragmentOfKey(key) };
}

async function messageOf({ text, file, ...fields }: FormContent): Promise<Message> {
  const title = fields.title === '' ? null : fields.title;
  const syntax = fields.syntax === '' ? null : fields.syntax;
  if (file === undefined) return { text, attachments: [], title, syntax };
  return messageOfFile({ bytes: new Uint8Array(await file.arrayBuffer()), name: file.name, title, syntax });
}
