import { fileNameOf, languageOf } from '@pasteflow/domain';
import type { Attachment, Message } from '@pasteflow/sealed';
import { PasteLines, type TextWarnings } from '../../src/content/paste-lines.ts';
import { element, optional } from '../element.ts';
import { startHighlighting } from '../highlight/painter.ts';
import { startNumbers } from '../paste/start-lines.ts';
import { startToolbar } from '../paste/toolbar.ts';
import type { SealedWords } from './messages.ts';

/** Shows a decrypted message as the page of any other paste shows its text. */
export function showMessage(message: Message, box: HTMLElement, words: SealedWords): void {
  if (message.title !== null) showTitle(message.title);
  element('attachments', HTMLElement).replaceChildren(
    ...message.attachments.map((each) => attachmentLink(each, words)),
  );
  if (message.text !== '' || message.attachments.length === 0) showText(message, words);
  box.hidden = false;
}

function showTitle(title: string): void {
  const heading = document.querySelector('h1 bdi');
  if (heading !== null) heading.textContent = title;
}

function showText({ text, title, syntax }: Message, words: SealedWords): void {
  const content = element('content', HTMLElement);
  const lines = new PasteLines();
  const markup = lines.push(new TextEncoder().encode(text)) + lines.end();
  content.replaceChildren(
    ...new DOMParser().parseFromString(markup, 'text/html').body.children,
    ...warnings(lines.warnings, words),
  );
  const extension = /\.([\w+#-]{1,20})$/.exec(location.pathname)?.[1] ?? null;
  content.dataset['language'] = languageOf({ syntax: extension ?? syntax, title }, text)?.id ?? '';
  element('opened', HTMLElement).hidden = false;
  const download = element('download', HTMLAnchorElement);
  download.href = URL.createObjectURL(new Blob([text], { type: 'text/plain;charset=utf-8' }));
  if (title !== null) download.download = fileNameOf(title, 'paste');
  const qr = optional('qr', HTMLButtonElement);
  if (qr !== null) qr.dataset['url'] = `${qr.dataset['url'] ?? ''}${location.hash}`;
  startToolbar(content, () => text);
  startNumbers(content);
  startHighlighting(content, [...content.querySelectorAll<HTMLElement>('.chunk')]);
}

function warnings({ bidi, longLines, cut }: TextWarnings, words: SealedWords): readonly HTMLElement[] {
  const texts = [bidi && words.bidi, longLines && words.longLines, cut && words.cut];
  return texts.flatMap((text) => {
    if (text === false) return [];
    const warning = document.createElement('p');
    warning.className = 'warning';
    warning.dir = document.documentElement.dir; // the lines around it go from left to right
    warning.setAttribute('role', 'note');
    warning.textContent = text;
    return [warning];
  });
}

/** A download, whatever its name says: nothing of an attachment is shown or run. */
function attachmentLink({ name, bytes }: Attachment, words: SealedWords): HTMLElement {
  const link = document.createElement('a');
  link.className = 'button';
  link.download = name;
  link.href = URL.createObjectURL(new Blob([bytes], { type: 'application/octet-stream' }));
  link.textContent = words.attachment.replace('NAME', name);
  return link;
}
