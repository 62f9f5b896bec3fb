import { element } from './element.ts';

location.replace(element('right', HTMLAnchorElement).href);
