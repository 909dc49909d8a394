import { alike, type FailureSigns } from './failure-sign.ts';

const CLIENT_CERTIFICATE =
  'webhooks have none: exempt the path of the webhooks, and check their signature there';
const VERSIONS = 'enable TLS 1.2 or 1.3 at the server';
const CIPHERS = 'enable the usual cipher suites of TLS 1.2 (ECDHE with AES-GCM) or TLS 1.3';
const SERVER = "look into the server's own log of TLS, or at the proxy in front of it";
const ON_THE_WAY = 'look for a proxy on the way that changes data, and at the server';

/**
 * Alerts of receivers (RFC 8446, section 6) by the names of OpenSSL, without the version that its releases put before
 * them, and errors of the handshake that OpenSSL reports itself.
 */
export const TLS_SIGNS: FailureSigns = {
  ...alike(
    ['ALERT_CERTIFICATE_REQUIRED', 'ALERT_NO_CERTIFICATE'],
    'the receiver requires a client certificate',
    CLIENT_CERTIFICATE,
  ),
  ...alike(
    [
      'ALERT_BAD_CERTIFICATE',
      'ALERT_UNKNOWN_CA',
      'ALERT_CERTIFICATE_UNKNOWN',
      'ALERT_UNSUPPORTED_CERTIFICATE',
      'ALERT_CERTIFICATE_EXPIRED',
      'ALERT_CERTIFICATE_REVOKED',
      'BAD_CERTIFICATE_HASH_VALUE',
      'CERTIFICATE_UNOBTAINABLE',
    ],
    'the receiver refuses the client certificate, which it asked for and did not get',
    CLIENT_CERTIFICATE,
  ),
  ALERT_ACCESS_DENIED: {
    says: 'the receiver allows no TLS connection from here',
    remedy: `it may require a client certificate (${CLIENT_CERTIFICATE}), or allow certain addresses only`,
  },
  ALERT_HANDSHAKE_FAILURE: {
    says: 'the receiver ended the TLS handshake: it has no cipher suite in common, requires a client certificate, or has no certificate for the name',
    remedy: CIPHERS,
  },
  ALERT_INSUFFICIENT_SECURITY: {
    says: 'the receiver demands other cipher suites',
    remedy: CIPHERS,
  },
  ...alike(
    [
      'ALERT_PROTOCOL_VERSION',
      'UNSUPPORTED_PROTOCOL',
      'VERSION_TOO_LOW',
      'VERSION_TOO_HIGH',
      'NO_PROTOCOLS_AVAILABLE',
      'ALERT_INAPPROPRIATE_FALLBACK',
      'INAPPROPRIATE_FALLBACK',
    ],
    'the receiver speaks no TLS version that is safe: TLS 1.2 or 1.3 is needed',
    VERSIONS,
  ),
  UNRECOGNIZED_NAME: {
    says: 'the receiver serves no such name over TLS',
    remedy: 'configure the name of the URL and its certificate at the server or gateway',
  },
  ...alike(
    ['ALERT_NO_APPLICATION_PROTOCOL', 'BAD_EXTENSION'],
    'the receiver does not speak HTTP/1.1 over TLS, but perhaps HTTP/2 only',
    'enable HTTP/1.1 at the server',
  ),
  ...alike(
    ['ALERT_INTERNAL_ERROR', 'ALERT_USER_CANCELLED'],
    'the receiver ended the TLS handshake because of a fault of its own',
    `it may have no certificate for the name: ${SERVER}`,
  ),
  ...alike(
    [
      'WRONG_VERSION_NUMBER',
      'HTTP_REQUEST',
      'HTTPS_PROXY_REQUEST',
      'PACKET_LENGTH_TOO_LONG',
      'UNEXPECTED_MESSAGE',
      'UNKNOWN_PROTOCOL',
      'RECORD_LAYER_FAILURE',
      'BAD_RECORD_TYPE',
    ],
    'the server answers in another protocol, such as plain HTTP',
    'register the port that speaks TLS, or enable TLS on this one',
  ),
  ...alike(
    [
      'DH_KEY_TOO_SMALL',
      'BAD_DH_VALUE',
      'BAD_ECPOINT',
      'WRONG_CURVE',
      'WRONG_SIGNATURE_TYPE',
      'NO_SUITABLE_SIGNATURE_ALGORITHM',
      'LEGACY_SIGALG_DISALLOWED_OR_UNSUPPORTED',
      'UNSUPPORTED_ELLIPTIC_CURVE',
    ],
    "the keys or signatures of the receiver's handshake are too weak or unknown",
    CIPHERS,
  ),
  ...alike(
    ['WRONG_CIPHER_RETURNED', 'UNKNOWN_CIPHER_RETURNED', 'NO_CIPHERS_AVAILABLE', 'NO_SHARED_CIPHER'],
    'the receiver and hookrail have no cipher suite in common',
    CIPHERS,
  ),
  UNSAFE_LEGACY_RENEGOTIATION_DISABLED: {
    says: 'the server lacks secure renegotiation (RFC 5746)',
    remedy: 'update the TLS library of the server',
  },
  ...alike(
    ['ALERT_NO_RENEGOTIATION', 'NO_RENEGOTIATION'],
    'the receiver starts another handshake on an open connection',
    'let it ask for client certificates at the first handshake only, or not at all',
  ),
  ...alike(
    [
      'ALERT_BAD_RECORD_MAC',
      'ALERT_RECORD_OVERFLOW',
      'ALERT_DECRYPTION_FAILED',
      'ALERT_DECRYPT_ERROR',
      'ALERT_DECODE_ERROR',
      'ALERT_DECOMPRESSION_FAILURE',
      'DECRYPTION_FAILED_OR_BAD_RECORD_MAC',
      'DATA_LENGTH_TOO_LONG',
      'ENCRYPTED_LENGTH_TOO_LONG',
      'BAD_SIGNATURE',
      'BAD_PACKET',
      'LENGTH_MISMATCH',
    ],
    'data of the TLS connection was damaged or could not be decrypted',
    ON_THE_WAY,
  ),
  ...alike(
    [
      'ALERT_UNEXPECTED_MESSAGE',
      'ALERT_ILLEGAL_PARAMETER',
      'ALERT_MISSING_EXTENSION',
      'ALERT_EXPORT_RESTRICTION',
      'ALERT_UNKNOWN_PSK_IDENTITY',
      'UNSUPPORTED_EXTENSION',
      'BAD_CERTIFICATE_STATUS_RESPONSE',
      'UNKNOWN_ALERT_TYPE',
      'INVALID_ALERT',
      'TOO_MANY_WARN_ALERTS',
      'UNEXPECTED_EOF_WHILE_READING',
    ],
    'the receiver broke off the TLS handshake or connection',
    SERVER,
  ),
};
