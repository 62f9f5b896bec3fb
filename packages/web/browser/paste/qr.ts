import { encode } from 'uqr';

/** The QR code of a URL as a drawing. The code is made here, so that no server sees the part after `#`. */
export function qrCode(url: string, label: string): SVGElement {
  const { data, size } = encode(url, { ecc: 'M', border: 0 });
  const svg = document.createElementNS('http://www.w3.org/2000/svg', 'svg');
  svg.setAttribute('viewBox', `0 0 ${size} ${size}`);
  svg.setAttribute('class', 'qr');
  svg.setAttribute('role', 'img');
  svg.setAttribute('aria-label', label);
  const path = document.createElementNS('http://www.w3.org/2000/svg', 'path');
  const squares = data.flatMap((row, y) => row.flatMap((dark, x) => (dark ? [`M${x} ${y}h1v1h-1z`] : [])));
  path.setAttribute('d', squares.join(''));
  svg.append(path);
  return svg;
}
