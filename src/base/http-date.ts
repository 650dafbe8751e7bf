const IMF_FIXDATE = /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/;

/** Reads the one form of date that HTTP senders may still produce (RFC 9110, 5.6.7); `undefined` for any other text. */
export function parseHttpDateMs(text: string): number | undefined {
  if (!IMF_FIXDATE.test(text.trim())) return undefined;
  const ms = Date.parse(text);
  return Number.isNaN(ms) ? undefined : ms;
}
