/** The reasons on the page of a problem. Its links and buttons belong to that page. @param isTitled with its title */
export function reasonsOf(main: HTMLElement, isTitled: boolean): readonly HTMLElement[] {
  const hasTitle = isTitled && main.querySelector('li') === null;
  const parts = `${hasTitle ? 'h1, ' : ''}.reason p, p.reason, li`;
  return [...main.querySelectorAll(parts)].map((each) => {
    const shown = document.createElement('p');
    shown.append(...each.childNodes); // a part may be in another language
    return shown;
  });
}

/**
 * Nobody has made the paste: it would belong to another user than the page names, or to nobody. Its button sends
 * the form for whoever is signed in now.
 * @param onTaken gets the name of that user; empty: nobody
 * @returns null: it is the page of another refusal
 */
export function otherUserOf(
  answer: Document,
  formUser: HTMLInputElement,
  onTaken: (viewer: string) => void,
): readonly ChildNode[] | null {
  const shown = answer.getElementById('other-user');
  shown?.querySelector('button')?.addEventListener('click', () => {
    const now = answer.querySelector<HTMLFormElement>('#new-paste');
    formUser.value = now?.querySelector<HTMLInputElement>('[name=form_user]')?.value ?? '';
    onTaken(now?.dataset['viewer'] ?? '');
    for (const part of ['header.site nav', 'header.site .account'])
      document.querySelector(part)?.replaceWith(answer.querySelector(part) ?? '');
  });
  return shown === null ? null : [...shown.childNodes];
}
