import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';

interface Answer {
  readonly status: number;
  /** Several parts are sent one after the other. */
  readonly body: string | readonly string[];
  readonly headers?: Readonly<Record<string, string>>;
}

interface Arrival {
  readonly path: string;
  readonly deliveryId: string;
  readonly authorization: string;
  /** The body of the response. */
  readonly body: string;
}

/** An HTTPS receiver whose responses are chosen by the path of the request; 200 without a body by default. */
export interface AnsweringReceiver {
  readonly url: string;
  readonly arrivals: Arrival[];
  answerAt(path: string, answer: Answer): void;
  close(): Promise<void>;
}

const PART_PAUSE_MS = 100;

export function startAnsweringReceiver(certificate: {
  readonly certPem: string;
  readonly keyPem: string;
}): Promise<AnsweringReceiver> {
  const arrivals: Arrival[] = [];
  const answers = new Map<string, Answer>();
  const server = createServer({ cert: certificate.certPem, key: certificate.keyPem }, (request, response) => {
    request.resume();
    request.on('end', async () => {
      const path = request.url ?? '';
      const { status, body, headers }: Answer = answers.get(path) ?? { status: 200, body: '' };
      const parts = typeof body === 'string' ? [body] : body;
      const { authorization = '' } = request.headers;
      const deliveryId = String(request.headers['webhook-delivery-id']);
      arrivals.push({ path, deliveryId, authorization, body: parts.join('') });
      response.writeHead(status, { ...headers });
      for (const part of parts) {
        response.write(part);
        await new Promise((resolve) => setTimeout(resolve, PART_PAUSE_MS));
      }
      response.end();
    });
  });
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => {
      resolve({
        url: `https://localhost:${(server.address() as AddressInfo).port}`,
        arrivals,
        answerAt: (path, answer) => void answers.set(path, answer),
        close: () =>
          new Promise((closed) => {
            server.close(() => closed());
            server.closeAllConnections();
          }),
      });
    });
  });
}
