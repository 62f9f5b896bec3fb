import { html, type Html } from '../html/html.ts';
import type { Site } from '../html/layout.ts';
import type { Words } from '../words/translation.ts';
import { secretExpiry, usualExpiry } from './house-rules.ts';

/** The form makes a text, or a secret: a paste for one reader, which the browser encrypts. */
export type Door = 'text' | 'secret';

/** What the form of a secret begins with. The script ticks the encryption, where the browser can encrypt. */
export function secretFields(site: Site): ReadonlyMap<string, string> {
  return new Map([
    ['burn', 'true'],
    ['expires_in', secretExpiry(site)],
  ]);
}

/** What is above the form: the ways to its two doors, what the open one is for, and what it can't do here. */
export function doors(site: Site, open: Door): Html {
  const { base, house, words } = site;
  const { secret } = words;
  const door = (name: Door, path: string, expires: string): Html =>
    html`<a href="${base}${path}" data-door="${name}" data-expires="${expires}"${
      name === open && html` aria-current="page"`
    }>${secret.doors[name]}</a>`;
  return html`<div class="top">
<nav class="doors" aria-label="${secret.doorsLabel}">${door('text', '/', usualExpiry(site))}${door('secret', '/?secret', secretExpiry(site))}</nav>
<p class="intro"${of('text', open)}>${words.intro(house.name)}</p><p class="intro"${of('secret', open)}>${secret.intro} <a href="${base}/my/requests">${words.requests.make}</a></p>
<p id="insecure" class="notice attention" hidden>${secret.insecure} ${secret.unencrypted}</p>${
    open === 'secret' &&
    html`<noscript><p class="notice attention">${secret.needsScript} ${secret.unencrypted}</p></noscript>`
  }
</div>
`;
}

/** A script shows that of the other door. */
export function eitherTitle({ form, secret }: Words, open: Door): Html {
  return html`<span${of('text', open)}>${form.title}</span><span${of('secret', open)}>${secret.title}</span>`;
}

/** The attributes of a part that only one of the doors has. A script shows the parts of the other one. */
function of(door: Door, open: Door): Html {
  return html` data-of="${door}"${door !== open && html` hidden`}`;
}

/** Fields that only the form of a text has, because they tell of the content: the other one sends none of them. */
export function fieldsOfText(fields: Html | false, open: Door): Html {
  return html`<fieldset class="bare"${of('text', open)}${open !== 'text' && html` disabled`}>${fields}</fieldset>`;
}

/**
 * Until the script has run, a secret would be sent as it is: so the button works only with the script, and without
 * JavaScript another one says what it does.
 */
export function createButton({ words }: Site, open: Door): Html {
  const { form, secret } = words;
  return html`<button id="create" class="primary" type="submit"${
    open === 'secret' && html` disabled autocomplete="off"`
  }><span${of('text', open)}>${form.submit}</span><span class="sealed"${of('secret', open)}>${secret.submit}</span><span class="unsealed"${of('secret', open)}>${secret.submitPlain}</span></button>${
    open === 'secret' &&
    html`<noscript><button class="primary" type="submit">${secret.submitPlain}</button></noscript>`
  }`;
}
