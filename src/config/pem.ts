/** Certificates as text. */

export function isPem(text: string): boolean {
  return text.includes('-----BEGIN CERTIFICATE-----');
}
