import { followList } from './my-jobs/follow-list.ts';
import { showRelativeTimes } from './browser-facts.ts';

// A form is sent once: a second click would start a second job.
showRelativeTimes('td time');
followList();
const forms = [...document.querySelectorAll<HTMLFormElement>('form.start')];
const setDisabled = (form: HTMLFormElement, disabled: boolean): void => {
  for (const button of form.querySelectorAll('button')) button.disabled = disabled;
};
for (const form of forms) form.addEventListener('submit', () => setDisabled(form, true));
addEventListener('pageshow', () => forms.forEach((form) => setDisabled(form, false))); // also when one goes back
