/** The headers with which a browser sends the form of a page of this service. */
export function ownPage(url: string): Record<string, string> {
  return { 'sec-fetch-site': 'same-origin', origin: new URL(url).origin };
}

/** A form as a browser sends it from a page of this service. */
export function ownForm(url: string, fields: Readonly<Record<string, string>>): RequestInit {
  return { method: 'POST', headers: ownPage(url), body: new URLSearchParams(fields) };
}
