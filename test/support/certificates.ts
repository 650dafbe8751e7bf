/** Makes X.509 certificates for tests that speak TLS, so that no test needs `openssl`. */
import { createPrivateKey, generateKeyPairSync, randomInt, X509Certificate } from 'node:crypto';
import { Integer, OctetString, Utf8String } from 'asn1js';
import {
  AttributeTypeAndValue,
  BasicConstraints,
  Certificate as CertificateContent,
  Extension,
  GeneralName,
  GeneralNames,
  RelativeDistinguishedNames,
} from 'pkijs';

/** A certificate and its private key, both in PEM. */
export interface Certificate {
  cert: string;
  key: string;
}

export interface CertificateOptions {
  /** The common name. */
  name: string;
  /** Signs the certificate. Default: the certificate signs itself, and is its own authority. */
  authority?: Certificate;
  /** The subject's alternative name: an IPv4 address or a host. */
  altName?: { ip: string } | { dns: string };
}

const ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256' };
const COMMON_NAME = '2.5.4.3';
const SUBJECT_ALT_NAME = '2.5.29.17';
const BASIC_CONSTRAINTS = '2.5.29.19';
/** Values of `GeneralName.type`: RFC 5280, section 4.2.1.6. */
const DNS_NAME = 2;
const IP_ADDRESS = 7;
const DAY_MS = 24 * 60 * 60 * 1_000;

/** Valid from a day ago until tomorrow. */
export async function createCertificate(options: CertificateOptions): Promise<Certificate> {
  const { name, authority, altName } = options;
  const keys = generateKeyPairSync('ec', { namedCurve: ALGORITHM.namedCurve });
  const content = new CertificateContent();
  content.version = 2;
  content.serialNumber = new Integer({ value: randomInt(1, 2 ** 31) });
  content.subject = distinguishedName(name);
  content.issuer = distinguishedName(authority ? commonName(authority) : name);
  content.notBefore.value = new Date(Date.now() - DAY_MS);
  content.notAfter.value = new Date(Date.now() + DAY_MS);
  content.extensions = [basicConstraints({ isAuthority: !authority }), ...(altName ? [subjectAltName(altName)] : [])];
  await content.subjectPublicKeyInfo.importKey(keys.publicKey.toCryptoKey(ALGORITHM, true, ['verify']));
  const signingKey = authority ? createPrivateKey(authority.key) : keys.privateKey;
  await content.sign(signingKey.toCryptoKey(ALGORITHM, true, ['sign']), 'SHA-256');
  return {
    cert: new X509Certificate(Buffer.from(content.toSchema(true).toBER())).toString(),
    key: keys.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  };
}

function distinguishedName(name: string): RelativeDistinguishedNames {
  const value = new Utf8String({ value: name });
  return new RelativeDistinguishedNames({ typesAndValues: [new AttributeTypeAndValue({ type: COMMON_NAME, value })] });
}

function commonName({ cert }: Certificate): string {
  return new X509Certificate(cert).subject.replace('CN=', '');
}

function basicConstraints({ isAuthority }: { isAuthority: boolean }): Extension {
  const value = new BasicConstraints({ cA: isAuthority }).toSchema();
  return new Extension({ extnID: BASIC_CONSTRAINTS, critical: true, extnValue: value.toBER() });
}

function subjectAltName(altName: { ip: string } | { dns: string }): Extension {
  const name =
    'ip' in altName
      ? new GeneralName({
          type: IP_ADDRESS,
          value: new OctetString({ valueHex: Uint8Array.from(altName.ip.split('.'), Number) }),
        })
      : new GeneralName({ type: DNS_NAME, value: altName.dns });
  return new Extension({ extnID: SUBJECT_ALT_NAME, extnValue: new GeneralNames({ names: [name] }).toSchema().toBER() });
}
