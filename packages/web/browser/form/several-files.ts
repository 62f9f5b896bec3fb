import { element } from '../element.ts';

type Choice = 'archive' | 'each' | '';

/** The texts of the dialog. */
export function wordsOfSeveral(): Readonly<Record<string, string>> {
  return JSON.parse(element('several', HTMLDialogElement).dataset['words'] ?? '{}') as Record<string, string>;
}

/** Asks what several files are to become. @param canEach they can become one paste each */
export async function askAboutSeveral(count: number, canEach: boolean): Promise<Choice> {
  const dialog = element('several', HTMLDialogElement);
  const { title = '' } = wordsOfSeveral();
  element('several-title', HTMLElement).textContent = title.replace('{count}', String(count));
  for (const each of dialog.querySelectorAll<HTMLButtonElement>('[value=each]')) each.hidden = !canEach;
  dialog.returnValue = '';
  dialog.showModal();
  await new Promise((resolve) => dialog.addEventListener('close', resolve, { once: true }));
  return dialog.returnValue as Choice;
}

/** Files of different folders can have the same name. */
export async function zipOf(files: readonly File[]): Promise<File> {
  const { downloadZip } = await import('client-zip');
  const taken = new Set<string>();
  const entries = files.map((input) => {
    let { name } = input;
    for (let number = 2; taken.has(name); number += 1) name = `${number} ${input.name}`;
    taken.add(name);
    return { name, input };
  });
  return new File([await downloadZip(entries).blob()], 'files.zip');
}
