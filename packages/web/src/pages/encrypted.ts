import { fileNameOf } from '@pasteflow/domain';
import { MAX_LINE_CHARACTERS, MAX_LINES } from '../content/paste-lines.ts';
import { formatNumber } from '../html/formats.ts';
import { html, type Html } from '../html/html.ts';
import { page, type Site } from '../html/layout.ts';
import type { Words } from '../words/translation.ts';
import { withToken } from './deletion.ts';
import { heading } from './heading.ts';
import { copyButton, qrButton, wrapButton } from './paste.ts';
import { toldBefore } from './receipt.ts';
import { linkButton } from './share.ts';
import { titleOf, type ShownPaste } from './shown-paste.ts';

/**
 * The page of an encrypted paste: the browser fetches the document and decrypts it. The server knows nothing
 * of the text.
 */
export function encryptedPage(site: Site, paste: ShownPaste): string {
  const { encrypted: text } = site.words;
  const raw = `${site.base}/v1/pastes/${paste.short_code}/${paste.burn ? 'reveal' : 'content'}`;
  return page(site, {
    title: titleOf(site.words, paste),
    scripts: ['encrypted-paste.js'],
    hasStylesInside: true,
    main: html`${heading(site, paste, null)}
<p id="needs-script" class="notice bad">${text.needsScript}</p>
<p id="sealed-status" role="status" class="hint"></p>
<div id="sealed-error" role="alert"></div>
${paste.burn && reveal(site, paste)}<form id="unlock" class="narrow" hidden>
<div class="field"><label for="password">${text.password}</label><input id="password" type="password" autocomplete="off" required></div>
<p><button id="decrypt" class="primary" type="submit">${text.decrypt}</button></p>
</form>
<div id="sealed" data-document="${raw}" data-method="${paste.burn ? 'POST' : 'GET'}" data-user="${site.viewer?.id ?? ''}" data-words="${JSON.stringify(browserWords(site.words, paste))}">
<p id="attachments" class="toolbar"></p>
${opened(site, paste, raw)}
</div>
<details class="explanation"><summary>${text.explanationTitle}</summary><p>${text.explanation}</p></details>
${withToken(site, paste)}`,
  });
}

function reveal(site: Site, paste: ShownPaste): Html {
  const { burn: text } = site.words;
  return html`<p id="once" class="notice attention" hidden>${text.explanation} ${toldBefore(site, paste)}</p>
<p><button type="button" id="reveal" class="primary" hidden>${text.reveal}</button></p>
`;
}

/** Hidden until there is a text. */
function opened(site: Site, paste: ShownPaste, raw: string): Html {
  const { paste: text, encrypted } = site.words;
  return html`<div id="opened" class="code" hidden>
<div class="bar">
${!paste.burn && linkButton(site.words, paste.url, 'primary')}
<a class="button" id="download" download="${fileNameOf(null, paste.short_code)}">${text.download}</a>
${!paste.burn && html`<a class="button" href="${raw}">${encrypted.document}</a>\n${qrButton(site.words, paste.url, encrypted.qr)}`}
<div class="right">${wrapButton(site.words)}${copyButton(site.words, null, paste.burn ? 'primary' : '')}</div>
</div>
<section id="content" class="content" dir="ltr" aria-label="${text.content}" data-worker="${site.asset('worker.js')}" tabindex="0"></section>
</div>`;
}

/** What the browser says by itself: SealedWords in browser/sealed. */
function browserWords(words: Words, paste: ShownPaste): Readonly<Record<string, unknown>> {
  const { paste: text, encrypted } = words;
  const { noKey } = encrypted.inBrowser;
  const isOwn = paste.deletion === 'owner' && paste.visibility === 'private'; // somebody may have deposited it
  return {
    ...encrypted.inBrowser,
    noKey: isOwn ? `${noKey} ${words.requests.withOwnLink}` : noKey,
    insecure: words.encryption.insecure,
    bidi: text.bidi,
    longLines: text.longLines(formatNumber(MAX_LINE_CHARACTERS, words)),
    cut: text.cut(formatNumber(MAX_LINES, words)),
    notUtf8: text.notUtf8,
    copy: text.copy,
    copied: text.copied,
    copyFailed: text.copyFailed,
    download: text.download,
    downloadAll: text.downloadAll,
    fileList: text.fileList,
    emptyFile: text.emptyFile,
    binary: text.binary,
    binaryHint: text.binaryHint,
    image: text.imageOf('FORMAT'),
    imageAlt: text.imageAlt('NAME'),
    plainText: text.plainText,
    units: words.units,
  };
}
