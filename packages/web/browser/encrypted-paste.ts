import { element } from './element.ts';
import { startSealedPaste } from './sealed/sealed-paste.ts';
import { showRelativeTimes } from './times.ts';

showRelativeTimes();
startSealedPaste(element('sealed', HTMLElement));
