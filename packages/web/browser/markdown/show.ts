import { cleanFragment } from './clean.ts';
import type { Rendered } from './markdown-worker.ts';

/** A text that takes longer was written to take long. It runs in a worker, so that the page answers meanwhile. */
const DEADLINE_MS = 10_000;

/** A text as it looks; null when it cannot be rendered in time. @param worker the URL of the worker's module */
export async function rendered(
  text: string,
  { worker: url, imageLabel }: { readonly worker: string; readonly imageLabel: string },
): Promise<HTMLElement | null> {
  const worker = new Worker(url, { type: 'module' });
  try {
    const markup = await answerOf(worker, text);
    if (markup === null) return null;
    const article = Object.assign(document.createElement('article'), { className: 'rendered' });
    article.append(cleanFragment(markup, imageLabel));
    return article;
  } finally {
    worker.terminate();
  }
}

async function answerOf(worker: Worker, text: string): Promise<Rendered> {
  return await new Promise((resolve) => {
    worker.addEventListener('message', ({ data }: MessageEvent<Rendered>) => resolve(data));
    worker.addEventListener('error', () => resolve(null));
    setTimeout(() => resolve(null), DEADLINE_MS);
    worker.postMessage(text);
  });
}
