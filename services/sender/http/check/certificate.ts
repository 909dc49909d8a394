import type { DetailedPeerCertificate, TLSSocket } from 'node:tls';
import type { Certificate } from '../../../domain/checks/findings.ts';
import { visible } from '../../../domain/text/visible-text.ts';

const CHAIN_MAX = 10;
const NAMES_MAX = 20;
const NAME_CHARACTERS_MAX = 253;

/** Returns what a verified connection shows of its certificates. */
export function certificateOf(socket: TLSSocket): Certificate {
  const own = socket.getPeerCertificate(true);
  const chain: string[] = [];
  let each: DetailedPeerCertificate | undefined = own;
  while (each && chain.length < CHAIN_MAX) {
    chain.push(subjectOf(each));
    each = each.issuerCertificate === each ? undefined : each.issuerCertificate;
  }
  return {
    tlsVersion: socket.getProtocol() ?? 'TLS',
    names: namesIn(own.subjectaltname ?? ''),
    chain,
    until: Date.parse(own.valid_to),
  };
}

function subjectOf({ subject }: DetailedPeerCertificate): string {
  const { CN, O } = subject ?? {};
  return shown([CN, O].flat().find((each) => typeof each === 'string' && each !== '') ?? 'without a name');
}

/** `text`: `DNS:a.example, DNS:b.example, IP Address:1.2.3.4`. */
function namesIn(text: string): string[] {
  const names = [...text.matchAll(/(?:DNS|IP Address):([^,"]+)/g)].map(([, name = '']) => shown(name.trim()));
  return names.slice(0, NAMES_MAX);
}

/** The text is the receiver's. */
function shown(text: string): string {
  return visible(text).slice(0, NAME_CHARACTERS_MAX);
}
