import { element } from './element.ts';
import { showRelativeTimes } from './browser-facts.ts';

// The stream ends when the upload has ended, however it ended: the page of that state is then the one to
// show. A stream that is refused, because too many clients wait, is replaced by a reload.
const RELOAD_WITHOUT_STREAM_MS = 2000;

showRelativeTimes();
const events = new EventSource(element('pending', HTMLElement).dataset['events'] ?? '');
events.addEventListener('end', () => {
  events.close();
  location.reload();
});
events.addEventListener('error', () => {
  if (events.readyState === EventSource.CLOSED) setTimeout(() => location.reload(), RELOAD_WITHOUT_STREAM_MS);
});
