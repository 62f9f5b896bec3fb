import { fillToken, showRelativeTimes } from './browser-facts.ts';
import { element } from './element.ts';
import { startSealedPaste } from './sealed/sealed-paste.ts';

showRelativeTimes();
fillToken();
void startSealedPaste(element('sealed', HTMLElement));
