import { languages, optionNames, optionOf, type OptionsWith } from '@pasteflow/domain';
import { languageName } from '../html/formats.ts';
import { html, type Html } from '../html/html.ts';
import type { Site } from '../html/layout.ts';
import type { Words } from '../words/translation.ts';
import { expiryChoices, mustBurn, usualExpiry } from './house-rules.ts';

export type FormOption = OptionsWith<{ readonly control: string }>;

export function controlsAt(place: 'beside' | 'more'): readonly FormOption[] {
  return optionNames.filter((name): name is FormOption => optionOf(name).control === place);
}

/** The control of an option. @param error why it was refused: only a slug shows that */
export function control(
  site: Site,
  name: FormOption,
  {
    entered,
    error = null,
    isEdit,
  }: { readonly entered: string; readonly error?: string | null | undefined; readonly isEdit: boolean },
): Html | false {
  const { form } = site.words;
  const option = optionOf(name);
  if (option.needsOwner !== undefined && site.viewer === null) return false;
  const label = form.labels[name];
  const field = (input: Html): Html =>
    html`<div class="field"><label for="${name}">${label}</label>${input}</div>\n`;
  const select = (options: Html): Html =>
    field(html`<select id="${name}" name="${name}">${options}</select>`);
  switch (option.kind) {
    case 'line':
      return field(
        html`<input id="${name}" name="${name}" value="${entered}" dir="auto" maxlength="${option.maxCharacters}" autocomplete="off">`,
      );
    case 'language': {
      const named = languages.map((each) => [each.id, languageName(each, site.words)] as const);
      return select(
        html`<option value="" data-detected="${form.detectedSyntax}">${form.detectSyntax}</option>${optionsOf(named, entered)}`,
      );
    }
    case 'expiry': {
      const offered = expiryChoices(site, site.viewer === null);
      const isOffered = offered.some(([value]) => value === entered);
      return select(
        html`${isEdit && html`<option value="">${site.words.edit.keep}</option>`}${optionsOf(offered, isOffered || isEdit ? entered : usualExpiry(site))}`,
      );
    }
    case 'choice':
      return select(
        html`${optionsOf(Object.entries(form.choices[name as keyof typeof form.choices]), entered)}`,
      );
    case 'flag': {
      const isForced = name === 'burn' && mustBurn(site);
      const input = isForced
        ? html`<input type="hidden" name="${name}" value="true"><input id="${name}" type="checkbox" disabled`
        : html`<input id="${name}" name="${name}" type="checkbox" value="true"`;
      return html`<div class="field"><label class="check" for="${name}">${input}
aria-describedby="${name}-hint"${(isForced || entered === 'true') && html` checked`}> ${label}</label><p id="${name}-hint"
class="hint">${isForced && html`${form.burnOnly} `}${form.hints[name as keyof typeof form.hints]}</p></div>\n`;
    }
    case 'slug':
      return slugField(site.words, entered, error);
    case 'files':
    case 'short_code':
      return false; // `originField` shows the parent
    default:
      return option satisfies never;
  }
}

function optionsOf(options: readonly (readonly [value: string, name: string])[], selected: string) {
  return options.map(
    ([value, name]) =>
      html`<option value="${value}"${value === selected && html` selected`}>${name}</option>`,
  );
}

/** The browser checks the pattern before it sends the form. @param error null: none */
export function slugField({ form }: Words, value: string, error: string | null): Html {
  return html`<div class="field"><label for="slug">${form.labels.slug}</label><input id="slug" name="slug" dir="ltr" minlength="3"
maxlength="64" pattern="[a-z0-9][a-z0-9\\-]+[a-z0-9]" title="${form.hints.slug}" autocomplete="off" autocapitalize="off"
spellcheck="false" aria-describedby="slug-error slug-hint" value="${value}"${error !== null && html` aria-invalid="true" autofocus`}><p id="slug-error"
class="field-error" role="alert">${error}</p><p id="slug-hint" class="hint">${form.hints.slug}</p></div>\n`;
}
