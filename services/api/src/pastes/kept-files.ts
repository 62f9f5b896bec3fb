import type { Request, Response } from 'express';
import { normalFileName, ParentNotFoundError } from '@pasteflow/domain';
import type { ApiContext } from '../context.ts';
import { RequestError, validationFailed } from '../http/answers/request-error.ts';
import type { Form, FormFile } from '../http/body/multipart.ts';
import { callerOf } from '../http/callers/caller-of.ts';
import { limitKeyOf } from '../http/callers/caller.ts';
import { readContent } from '../storage/stored-content.ts';
import { assertNotHeld, findEvenHeld } from './find-named-paste.ts';
import { assertStays } from './read-content.ts';

/** Of a file of the paste that `files_of` names, by its place in it. */
const KEPT = /^keep_(0|[1-9]\d?)$/;

/** The content of that paste is in memory, beside the one that is made of it, until that is inserted. */
const WEIGHT = 2;

interface NamedContent extends FormFile {
  readonly syntax: string;
  readonly content: Buffer;
}

/**
 * A page without JavaScript can't send the files of a paste again: it names those that the new one has as well. A file
 * that is sent takes the place of the one with its name, or comes last.
 * @throws RequestError and ParentNotFoundError where the sender can't read that paste
 */
export async function withKeptFiles(api: ApiContext, req: Request, res: Response, form: Form): Promise<Form> {
  const fields = new Map(form.fields);
  const code = fields.get('files_of');
  if (code === undefined) return form;
  const kept = new Set([...fields.keys()].flatMap((name) => KEPT.exec(name)?.[1] ?? []).map(Number));
  for (const name of fields.keys()) if (name === 'files_of' || KEPT.test(name)) fields.delete(name);
  if (kept.size === 0) return { ...form, fields };

  // The answer tells whether the sender can read the paste: its code may be a guess.
  api.limits.refuseUsedUp(res, 'misses', limitKeyOf(callerOf(req)));
  const paste = await findEvenHeld(api, req, code);
  if (paste === null || paste.gone || paste.status === 'FAILED') throw new ParentNotFoundError('parent');
  assertNotHeld(paste, req);
  assertStays(api, paste);
  const { files } = paste;
  if (files === null)
    throw validationFailed([{ path: 'files_of', message: 'must name a paste of several files' }]);
  api.bodies.add(req, WEIGHT * paste.size_bytes + (form.content?.length ?? 0));
  const download = api.downloads.begin(req, paste.size_bytes, WEIGHT);
  try {
    const stored = await readContent(api.store, api.cache, { paste, range: undefined, accepts: null }, res);
    if (stored === null)
      throw new RequestError(
        'paste_in_progress',
        `The paste ${code} is not stored yet. Send the form again.`,
      );
    const older = files.flatMap(({ name, offset, size, syntax }, index) =>
      kept.has(index)
        ? [{ name, size, syntax: syntax ?? '', content: stored.bytes.subarray(offset, offset + size) }]
        : [],
    );
    return formOf(form, fields, merged(older, contentsOf(form)));
  } finally {
    download.release();
  }
}

function contentsOf({ files, content }: Form): readonly NamedContent[] {
  let offset = 0;
  return files.map((file) => {
    const start = offset;
    offset += file.size;
    return { ...file, syntax: '', content: content?.subarray(start, offset) ?? Buffer.alloc(0) };
  });
}

function merged(older: readonly NamedContent[], sent: readonly NamedContent[]): readonly NamedContent[] {
  const byName = new Map(sent.map((file) => [normalFileName(file.name), file]));
  const replaced = older.map(({ name }) => byName.get(name));
  return [
    ...older.map((file, index) => ({ ...file, ...replaced[index], name: file.name, syntax: file.syntax })),
    // Also the first of two with one name, which is refused: neither is lost silently.
    ...sent.filter((file) => !replaced.includes(file)),
  ];
}

/** One file that is left is a paste with its name as the title, where the form has no other. */
function formOf(form: Form, sent: ReadonlyMap<string, string>, files: readonly NamedContent[]): Form {
  const [only] = files;
  const fields = new Map(sent);
  fields.set('file_syntaxes', files.map(({ syntax }) => syntax).join(','));
  if (only !== undefined && files.length === 1 && !fields.get('title')) fields.set('title', only.name);
  return {
    ...form,
    fields,
    files: files.map(({ name, size }) => ({ name, size })),
    content: Buffer.concat(files.map(({ content }) => content)),
  };
}
