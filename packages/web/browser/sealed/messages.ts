import { element } from '../element.ts';

export function say(text: string): void {
  element('sealed-status', HTMLElement).textContent = text;
}

/** @param text empty: nothing is wrong any more */
export function fail(text: string): void {
  show(text, 'notice bad');
}

/** A question, which looks like no error. */
export function ask(text: string): void {
  show(text, 'notice attention');
}

function show(text: string, className: string): void {
  const box = element('sealed-error', HTMLElement);
  box.replaceChildren(
    ...(text === '' ? [] : [Object.assign(document.createElement('p'), { className, textContent: text })]),
  );
}
