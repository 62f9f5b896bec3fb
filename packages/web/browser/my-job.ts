import { progressText, type ProgressWords } from '../src/html/progress-text.ts';
import { element, optional } from './element.ts';
import { showRelativeTimes } from './browser-facts.ts';

// The stream ends with the job, however it ended: the page then shows what the job did. A stream that is
// refused, because too many clients wait, is replaced by a reload.
const RELOAD_WITHOUT_STREAM_MS = 2000;

showRelativeTimes();
const job = optional('job', HTMLElement);
if (job !== null) follow(job.dataset['events'] ?? '');

function follow(url: string): void {
  const bar = element('job-progress', HTMLProgressElement);
  const percent = element('job-percent', HTMLElement);
  const message = element('job-message', HTMLElement);
  const words = JSON.parse(message.dataset['words'] ?? '{}') as ProgressWords;
  const state = element('job-state', HTMLElement);
  const inPercent = new Intl.NumberFormat(document.documentElement.lang, { style: 'percent' });
  const events = new EventSource(url);
  events.addEventListener('progress', ({ data }: MessageEvent<string>) => {
    const { progress, progress_message: text } = JSON.parse(data) as {
      progress: number;
      progress_message: string | null;
    };
    state.textContent = state.dataset['processing'] ?? '';
    bar.value = progress;
    percent.textContent = inPercent.format(progress / 100);
    message.textContent = progressText(text ?? '', words);
  });
  events.addEventListener('end', () => {
    events.close();
    location.reload();
  });
  events.addEventListener('error', () => {
    if (events.readyState === EventSource.CLOSED)
      setTimeout(() => location.reload(), RELOAD_WITHOUT_STREAM_MS);
  });
}
