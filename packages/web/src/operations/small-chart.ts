import { html, type Html } from '../html/html.ts';
import { operationsWords as words } from './words.ts';

const WIDTH = 300;
const HEIGHT = 64;

/**
 * The numbers of each minute as bars, the newest at the right. The scale is that of the greatest number.
 * @param values at most 60, oldest first
 */
export function smallChart(name: string, kind: 'good' | 'bad' | 'busy', values: readonly number[]): Html {
  const peak = Math.max(0, ...values);
  const step = WIDTH / 60;
  const first = 60 - values.length;
  const bars = values.map((value, index) => {
    if (value === 0) return null;
    const height = Math.max(2, (value / peak) * (HEIGHT - 4));
    return html`<rect class="${kind}" x="${((first + index) * step).toFixed(1)}" y="${(HEIGHT - height).toFixed(1)}" width="${(step - 1).toFixed(1)}" height="${height.toFixed(1)}"></rect>`;
  });
  const summary = words.peak(String(Math.round(peak)));
  return html`<figure class="small-chart"><svg class="timeline" viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="${name}: ${summary}">${bars}<line class="base" x1="0" y1="${HEIGHT - 0.5}" x2="${WIDTH}" y2="${HEIGHT - 0.5}"></line></svg>
<figcaption>${name} <span class="hint">${summary}</span></figcaption></figure>`;
}
