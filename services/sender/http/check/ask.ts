import { request } from 'node:http';
import type { TLSSocket } from 'node:tls';
import type { CustomHeader } from '../../../domain/controls/custom-headers.ts';
import { describedFailure } from '../../../domain/failures/failure-signs.ts';
import { ConnectFailure } from '../connect-failure.ts';
import { brokenExchange } from '../failure-names.ts';

const HEADER_BYTES_MAX = 16 * 1024;
/** Another one than that of webhooks, by which a receiver could take the request for one. */
const USER_AGENT = 'hookrail-check';

interface Asked {
  readonly status: number;
  readonly location: string | undefined;
}

/**
 * Asks a server for the head of a page: a request without a body, the secret, a signature or an id, which changes nothing
 * (RFC 9110 §9.2.1). It has the endpoint's own headers, without which a gateway may refuse it. Rejects with a ConnectFailure
 * when the server does not answer in HTTP. The connection is closed in any case.
 */
export function askHead(
  socket: TLSSocket,
  { host, pathname, search }: URL,
  own: readonly CustomHeader[],
): Promise<Asked> {
  const fixed = ['Host', host, 'User-Agent', USER_AGENT, 'Accept', '*/*', 'Connection', 'close'];
  return new Promise((resolve, reject) => {
    const asked = request({
      createConnection: () => socket,
      method: 'HEAD',
      path: `${pathname}${search}`,
      headers: [...fixed, ...own.flatMap(({ name, value }) => [name, value])],
      maxHeaderSize: HEADER_BYTES_MAX,
    });
    asked.once('response', (response) => {
      const { statusCode: status = 0, headers } = response;
      response.destroy();
      resolve({ status, location: headers.location });
    });
    // A 101 is no answer: nobody asked for another protocol.
    asked.once('upgrade', (_response, other) => {
      other.destroy();
      reject(new ConnectFailure('http_1xx', 'the response is a 101: nobody asked for another protocol'));
    });
    asked.on('error', (error: Error) => reject(failureOf(error)));
    asked.once('close', () => {
      socket.destroy();
      reject(new ConnectFailure('connection_reset', 'the connection closed before a complete response'));
    });
    asked.end();
  });
}

function failureOf(error: Error): ConnectFailure {
  if (error instanceof ConnectFailure) return error;
  const { code = '' }: NodeJS.ErrnoException = error;
  // The parser of Node's own client: undici's names its reasons in other words.
  if (code.startsWith('HPE_') && code !== 'HPE_HEADER_OVERFLOW') {
    const detail = `the response is not HTTP/1.1: ${describedFailure(code, error.message)}`;
    return new ConnectFailure('protocol_error', detail);
  }
  const { failureCode, detail } = brokenExchange(error, false);
  return new ConnectFailure(failureCode, detail);
}
