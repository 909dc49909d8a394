import type { DetailedPeerCertificate, TLSSocket } from 'node:tls';
import { visible } from '../../../domain/text/visible-text.ts';
import { ConnectFailure, tlsReason } from '../connect-failure.ts';

/** A chain of certificates that ends before a trusted authority. */
const ENDS_EARLY: ReadonlySet<string | undefined> = new Set([
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_GET_ISSUER_CERT',
]);
const CHAIN_MAX = 20;
const NAME_MAX = 100;

/**
 * Names the certificate that is missing when a receiver's chain ends early: the failure on which the socket is destroyed
 * says which one the server should send. Node forgets the certificates as soon as the socket is destroyed.
 */
export function nameMissingIssuer(socket: TLSSocket): void {
  const destroy = socket.destroy.bind(socket);
  socket.destroy = (error?: Error & { code?: string }) => {
    const issuer = error && ENDS_EARLY.has(error.code) ? missingIssuer(socket) : '';
    if (!error || issuer === '') return destroy(error);
    const detail = `TLS failed: ${tlsReason(error)}. Not sent: ${issuer}`;
    return destroy(new ConnectFailure('tls_error', detail));
  };
}

/** Returns the name of the issuer of the last certificate that the server has sent, empty without one. */
function missingIssuer(socket: TLSSocket): string {
  let last: DetailedPeerCertificate | undefined = socket.getPeerCertificate(true);
  for (let length = 1; length < CHAIN_MAX && last?.issuerCertificate; length++) {
    if (last.issuerCertificate === last) break;
    last = last.issuerCertificate;
  }
  const { CN, O } = last?.issuer ?? {};
  const names = [CN, O].flat().filter((each) => typeof each === 'string' && each !== '');
  return visible(names.join(', ')).slice(0, NAME_MAX);
}
