import { showRelativeTimes } from './browser-facts.ts';
import { followRows } from './follow-rows.ts';
import { startFilter } from './live-filter.ts';

// A form is sent once: a second click would start a second job.
showRelativeTimes();
followRows();
startFilter(() => {
  showRelativeTimes('#found .line time');
  followRows();
});
const forms = [...document.querySelectorAll<HTMLFormElement>('form.start')];
const setDisabled = (form: HTMLFormElement, disabled: boolean): void => {
  for (const button of form.querySelectorAll('button')) button.disabled = disabled;
};
for (const form of forms) form.addEventListener('submit', () => setDisabled(form, true));
addEventListener('pageshow', () => forms.forEach((form) => setDisabled(form, false))); // also when one goes back
