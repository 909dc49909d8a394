import { request } from 'node:http';
import { isIPv6, type Socket } from 'node:net';
import type { EgressProxy } from '../../egress/egress-proxy.ts';
import { ConnectFailure } from './connect-failure.ts';

/** A tunnel being opened: `cancel` gives it up, and `opened` rejects. */
export interface Tunnel {
  readonly opened: Promise<Socket>;
  cancel(): void;
}

/**
 * Asks the proxy to connect to an address (CONNECT, RFC 9110 §9.3.6). The proxy gets an address that was checked here,
 * never a name: its own resolution could lead elsewhere. Rejects with a ConnectFailure: a failure of the proxy itself
 * is our own fault and costs no attempt; a target that it cannot or may not reach is the receiver's.
 */
export function openTunnel(proxy: EgressProxy, address: string, port: number): Tunnel {
  const target = `${isIPv6(address) ? `[${address}]` : address}:${port}`;
  const asked = request({
    host: proxy.host,
    port: proxy.port,
    method: 'CONNECT',
    path: target,
    agent: false,
    headers: {
      Host: target,
      ...(proxy.authorization === null ? {} : { 'Proxy-Authorization': proxy.authorization }),
    },
  });
  const opened = new Promise<Socket>((resolve, reject) => {
    asked.once('connect', ({ statusCode = 0 }, socket, head) => {
      const isOpen = statusCode >= 200 && statusCode < 300;
      // A TLS server sends nothing first: bytes that come with the proxy's response are not from the receiver.
      if (isOpen && head.length === 0) return resolve(socket);
      socket.destroy();
      reject(isOpen ? oursBy('sent data after its response') : refusal(statusCode));
    });
    asked.once('response', (response) => {
      response.destroy();
      reject(refusal(response.statusCode ?? 0));
    });
    asked.once('error', (error: NodeJS.ErrnoException) => {
      reject(oursBy(`cannot be used: ${error.code ?? error.message}`));
    });
  });
  asked.end();
  return { opened, cancel: () => void asked.destroy() };
}

/**
 * Classifies a refusal. 502, 503, 504: the proxy tried (RFC 9110 §15.6). 403 and other 4xx: it refuses the target.
 * 407: it refuses us. None of them shows that a receiver was reached.
 */
function refusal(status: number): ConnectFailure {
  if (status === 504) {
    return new ConnectFailure('connect_timeout', 'the egress proxy did not reach the address in time', {
      sign: 'silent',
    });
  }
  if (status === 502 || status === 503) {
    return new ConnectFailure('connect_refused', `the egress proxy did not reach the address (${status})`, {
      sign: 'silent',
    });
  }
  if (status >= 400 && status < 500 && status !== 407) {
    return new ConnectFailure(
      'connect_refused',
      `the egress proxy refused to connect to the address (${status})`,
      { sign: 'unknown' },
    );
  }
  return oursBy(`answered ${status}`);
}

function oursBy(what: string): ConnectFailure {
  return new ConnectFailure('connect_refused', `the egress proxy ${what}`, {
    ownFault: 'egress_proxy',
    sign: 'unknown',
  });
}
