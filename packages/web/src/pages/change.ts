import { languageNamed, languages, pasteOptions, type StoredOptions } from '@pasteflow/domain';
import { formatTime, languageName } from '../html/formats.ts';
import { html, type Html } from '../html/html.ts';
import { formUser, onlyReads, page, type Site } from '../html/layout.ts';
import { expiryChoices } from './house-rules.ts';
import { reasonsOf, type ShownProblem } from './problem.ts';

/** Begins the names of hidden fields, which have what the form has shown first. */
export const SHOWN_BEFORE = 'before_';

interface ChangeablePaste extends Pick<StoredOptions, 'title' | 'syntax' | 'visibility' | 'encrypted'> {
  readonly short_code: string;
  readonly expires_at: string | null;
  /** Each has a language of its own. */
  readonly hasFiles: boolean;
  /** Whoever has the delete token changes it, and it can't be private. */
  readonly isAnonymous: boolean;
}

/**
 * The form that changes what a paste has beside its text.
 * @param refused what was entered, and why it was refused; null: the form is new
 */
export function changePage(
  site: Site,
  paste: ChangeablePaste,
  refused: { readonly fields: ReadonlyMap<string, unknown>; readonly problem: ShownProblem } | null = null,
): string {
  const { change: text, form, paste: ofPaste } = site.words;
  const { short_code: code, encrypted, hasFiles, isAnonymous } = paste;
  const { maxCharacters } = pasteOptions.title;
  const entered = (name: string, otherwise: string): string => {
    const value = refused?.fields.get(name);
    return typeof value === 'string' ? value : otherwise;
  };
  const before = (name: string, value: string): Html =>
    html`<input type="hidden" name="${SHOWN_BEFORE}${name}" value="${entered(SHOWN_BEFORE + name, value)}">`;
  const [title, syntax] = [paste.title ?? '', languageOf(paste.syntax)];
  return page(site, {
    title: text.title(code),
    scripts: ['timeline.js'], // which fills in the delete token that this browser has
    main: html`<h1>${text.title(code)}</h1>
<p>${text.intro}</p>
${onlyReads(site)}${refused !== null && html`<div class="notice bad" role="alert">${reasonsOf(site, refused.problem, isAnonymous)}</div>\n`}<form class="narrow" method="post" action="${site.base}/${code}/change">${formUser(site)}
${
  !encrypted &&
  html`${before('title', title)}${field('title', form.labels.title, html`<input id="title" name="title" value="${entered('title', title)}" dir="auto" maxlength="${maxCharacters}" autocomplete="off">`)}\n`
}${
      !encrypted &&
      !hasFiles &&
      html`${before('syntax', syntax)}${select('syntax', form.labels.syntax, entered('syntax', syntax), [
        ['', form.detectSyntax],
        ...languages.map((each) => [each.id, languageName(each, site.words)] as const),
      ])}\n`
    }${select('expires_in', text.expires, entered('expires_in', ''), [['', text.keep], ...expiryChoices(site, isAnonymous)])}
<p class="hint">${paste.expires_at === null ? ofPaste.neverExpiresLine : html`${ofPaste.expiresLine} ${formatTime(paste.expires_at, site.words)}`}</p>
${
  !isAnonymous &&
  html`${before('visibility', paste.visibility)}${select('visibility', form.labels.visibility, entered('visibility', paste.visibility), Object.entries(form.choices.visibility))}`
}
${
  isAnonymous &&
  field(
    'delete_token',
    ofPaste.deleteToken,
    html`<input id="delete_token" name="delete_token" type="password" autocomplete="off" required data-path="${site.base}/${code}/delete">`,
  )
}
<p><button class="primary" type="submit">${text.save}</button> <a class="button" href="${site.base}/${code}">${text.back}</a></p>
</form>`,
  });
}

/** The name that the list has: a paste may have an extension, or a language of an earlier release. */
function languageOf(syntax: string | null): string {
  return (syntax === null ? null : languageNamed(syntax))?.id ?? '';
}

function field(name: string, label: string, input: Html): Html {
  return html`<div class="field"><label for="${name}">${label}</label>${input}</div>`;
}

function select(
  name: string,
  label: string,
  chosen: string,
  options: readonly (readonly [value: string, name: string])[],
): Html {
  const all = options.map(
    ([value, shown]) =>
      html`<option value="${value}"${value === chosen && html` selected`}>${shown}</option>`,
  );
  return field(name, label, html`<select id="${name}" name="${name}">${all}</select>`);
}
