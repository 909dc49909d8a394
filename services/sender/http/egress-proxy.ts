import { request } from 'node:http';
import { isIPv6, type Socket } from 'node:net';
import type { EgressProxy } from '../../egress/egress-proxy.ts';
import { ConnectFailure } from './connect-failure.ts';

/** A tunnel that is asked for: `cancel` gives it up, and `opened` rejects. */
export interface Tunnel {
  readonly opened: Promise<Socket>;
  cancel(): void;
}

/**
 * Has the proxy connect to an address (CONNECT, RFC 9110 §9.3.6). It is given an address that was checked here, never a
 * name: what the proxy would resolve could lead elsewhere. Rejects with a ConnectFailure: the proxy's own trouble is
 * ours and costs no attempt; a target that it cannot reach, or may not, is the receiver's.
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
      // A TLS server says nothing first: whatever comes with the answer is not from the receiver.
      if (isOpen && head.length === 0) return resolve(socket);
      socket.destroy();
      reject(isOpen ? oursBy('answered with more than an answer') : refusal(statusCode));
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
 * 502, 503, 504: it tried (RFC 9110 §15.6). 403 and other 4xx: it will not go there. 407: it does not know us.
 * None of them shows that a receiver was reached.
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
      `the egress proxy does not connect to the address (${status})`,
      { sign: 'unknown' },
    );
  }
  return oursBy(`answered ${status}`);
}

function oursBy(what: string): ConnectFailure {
  return new ConnectFailure('connect_refused', `the egress proxy ${what}`, {
    ours: 'egress_proxy',
    sign: 'unknown',
  });
}
