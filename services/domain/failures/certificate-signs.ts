import { alike, type FailureSigns } from './failure-sign.ts';

const RENEW = 'renew it, and have the server load the new one';
const REISSUE = 'have another certificate issued for the server';
const REVOCATION = 'ask the authority of the certificate';

/** Why a receiver's certificate is refused: each code that Node has for OpenSSL's X509_V_ERR_*, and its own. */
export const CERTIFICATE_SIGNS: FailureSigns = {
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: {
    says: 'the server sends its own certificate only, and its issuer is not a trusted authority',
    remedy:
      'have the server send the intermediate certificates too (often fullchain.pem); browsers fetch them, webhooks do not',
  },
  ...alike(
    ['UNABLE_TO_GET_ISSUER_CERT_LOCALLY', 'UNABLE_TO_GET_ISSUER_CERT'],
    'the chain of certificates ends before a trusted authority',
    'have the server send every intermediate certificate, of an authority that is publicly trusted',
  ),
  DEPTH_ZERO_SELF_SIGNED_CERT: {
    says: 'the certificate is signed by itself, by no authority',
    remedy: 'use a certificate of a public authority',
  },
  SELF_SIGNED_CERT_IN_CHAIN: {
    says: 'the certificate is of an authority that is not trusted',
    remedy: 'use a certificate of a public authority',
  },
  CERT_HAS_EXPIRED: { says: 'a certificate of the server has expired', remedy: RENEW },
  CERT_NOT_YET_VALID: {
    says: 'a certificate of the server is not valid yet',
    remedy: "wait until it is, or check the clock of the authority's machine",
  },
  ...alike(
    ['ERR_TLS_CERT_ALTNAME_INVALID', 'HOSTNAME_MISMATCH'],
    "the certificate is for another name than the URL's",
    'have one issued for that name, or register a URL with a name that it has',
  ),
  ERR_TLS_CERT_ALTNAME_FORMAT: {
    says: 'the names in the certificate cannot be read',
    remedy: REISSUE,
  },
  CERT_REVOKED: { says: 'the certificate was revoked', remedy: REISSUE },
  ...alike(
    ['CERT_SIGNATURE_FAILURE', 'UNABLE_TO_DECRYPT_CERT_SIGNATURE', 'UNABLE_TO_DECODE_ISSUER_PUBLIC_KEY'],
    'the signature in a certificate does not fit its issuer',
    'have the server send the intermediate certificates that belong to its own',
  ),
  ...alike(
    ['ERROR_IN_CERT_NOT_BEFORE_FIELD', 'ERROR_IN_CERT_NOT_AFTER_FIELD'],
    'a date in the certificate cannot be read',
    REISSUE,
  ),
  ...alike(
    ['INVALID_CA', 'PATH_LENGTH_EXCEEDED', 'CERT_CHAIN_TOO_LONG'],
    'a certificate in the chain may not issue the next one',
    'have the server send the intermediate certificates that belong to its own, and no others',
  ),
  INVALID_PURPOSE: { says: 'the certificate is not one for servers', remedy: REISSUE },
  ...alike(['CERT_UNTRUSTED', 'CERT_REJECTED'], 'the certificate is not trusted for servers', REISSUE),
  ...alike(
    [
      'UNABLE_TO_GET_CRL',
      'UNABLE_TO_DECRYPT_CRL_SIGNATURE',
      'CRL_SIGNATURE_FAILURE',
      'CRL_NOT_YET_VALID',
      'CRL_HAS_EXPIRED',
      'ERROR_IN_CRL_LAST_UPDATE_FIELD',
      'ERROR_IN_CRL_NEXT_UPDATE_FIELD',
    ],
    'it cannot be found out whether the certificate was revoked',
    REVOCATION,
  ),
  OUT_OF_MEM: { says: 'there was no memory to verify the certificate', remedy: 'tell the operator' },
  UNSPECIFIED: {
    says: 'the certificate breaks a rule, such as a key that is too short or an old signature',
    remedy: REISSUE,
  },
  ...alike(
    ['ERR_SSL_EE_KEY_TOO_SMALL', 'ERR_SSL_CA_KEY_TOO_SMALL', 'ERR_SSL_CA_MD_TOO_WEAK'],
    'the key or the signature of a certificate is too weak',
    'have one issued with RSA of 2,048 bits or P-256, and SHA-256',
  ),
};
