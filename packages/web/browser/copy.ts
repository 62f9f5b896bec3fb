/** Copies a text, and shows on the button for two seconds whether the copy worked. */
export async function copyShown(
  button: HTMLButtonElement,
  text: () => string | Promise<string>,
  { done, failed }: { readonly done: string; readonly failed: string },
): Promise<void> {
  const label = button.textContent;
  button.disabled = true;
  button.textContent = await copied(text).then(
    () => done,
    () => failed,
  );
  setTimeout(() => {
    button.textContent = label;
    button.disabled = false;
  }, 2000);
}

/** Safari allows a copy only in the event of the click, so that it gets the text as a promise. */
async function copied(text: () => string | Promise<string>): Promise<void> {
  const blob = Promise.resolve(text()).then((value) => new Blob([value], { type: 'text/plain' }));
  if (typeof ClipboardItem === 'undefined') {
    await navigator.clipboard.writeText(await (await blob).text());
    return;
  }
  await navigator.clipboard.write([new ClipboardItem({ 'text/plain': blob })]);
}
