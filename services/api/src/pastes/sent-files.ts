import type { ChosenOptions, PasteFile } from '@pasteflow/domain';
import { fileSyntax, toFiles } from '@pasteflow/service-kit';
import { z } from 'zod';
import { validate, validationFailed } from '../http/answers/request-error.ts';
import type { Form } from '../http/body/multipart.ts';

/** What a request says of a file of a new paste. */
type SentFile = Omit<PasteFile, 'offset'>;

/** What the files of a new paste decide, with all that was chosen for the whole. */
export type WithFiles<Options> = Options & Pick<ChosenOptions, 'title' | 'syntax' | 'files'>;

interface OptionsBesideFiles extends Pick<ChosenOptions, 'title' | 'syntax'> {
  readonly inherited?: readonly string[] | undefined;
}

/**
 * The options of a new paste with its files in them, if there are several.
 * @throws RequestError validation_failed
 */
export function withFiles<Options extends OptionsBesideFiles>(
  files: readonly SentFile[],
  options: Options,
): WithFiles<Options> {
  const made = toFiles(files, options);
  if ('errors' in made) throw validationFailed(made.errors);
  // The title of one file is its name, and each of several has a syntax of its own.
  return saying(options, made.options.files === undefined ? ['title', 'syntax'] : ['syntax'], made.options);
}

/** The options with others that a newer version does not have from the older one. */
function saying<Options extends OptionsBesideFiles, Said extends object>(
  options: Options,
  names: readonly string[],
  said: Said,
): Options & Said {
  const inherited = options.inherited?.filter((name) => !names.includes(name));
  return { ...options, ...said, ...(inherited && { inherited }) };
}

/** The files of a paste as JSON, and their contents one after the other, in one buffer. */
export function filesOfJson(files: readonly (Omit<SentFile, 'size'> & { readonly content: string })[]): {
  readonly files: readonly SentFile[];
  readonly content: Buffer;
} {
  const sized = files.map((file) => ({ ...file, size: Buffer.byteLength(file.content) }));
  const content = Buffer.allocUnsafe(sized.reduce((total, { size }) => total + size, 0));
  let offset = 0;
  for (const file of sized) offset += content.write(file.content, offset);
  return { files: sized.map(({ name, size, syntax }) => ({ name, size, syntax })), content };
}

const filesOfFields = z.object({
  files: z.array(z.object({ name: z.string(), size: z.number(), syntax: fileSyntax })),
});

/**
 * The options of a form with its files in them. One file is the content, and its name stays with the sender.
 * @param syntaxes of the files, between commas; empty: none
 * @throws RequestError validation_failed
 */
export function filesOfForm<Options extends OptionsBesideFiles>(
  { files }: Pick<Form, 'files'>,
  syntaxes: string | undefined,
  options: Options,
): Options {
  const entries = syntaxes ? syntaxes.split(',') : files.map(() => '');
  if (entries.length !== files.length)
    throw validationFailed([
      {
        path: 'file_syntaxes',
        message: `must have as many entries, between commas, as there are files: ${files.length}`,
      },
    ]);
  const chosen = validate(filesOfFields, {
    files: files.map((file, index) => ({ ...file, syntax: entries[index] })),
  }).files;
  if (chosen.length > 1) return withFiles(chosen, options);
  const syntax = chosen[0]?.syntax ?? null;
  return syntax === null ? options : saying(options, ['syntax'], { syntax: options.syntax ?? syntax });
}
