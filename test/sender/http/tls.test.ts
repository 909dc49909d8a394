/** Guarantee: a receiver with an invalid certificate, or with old TLS, gets no byte of HTTP. */
import { generate } from 'selfsigned';
import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import { parseEgressAllow } from '../../../services/egress/egress.ts';
import { systemClock } from '../../../services/process/clock.ts';
import { openTransport } from '../../../services/sender/http/transport.ts';
import {
  type Authority,
  createAuthority,
  issueCertificate,
} from '../../../simulator/receiver/certificate-authority.ts';
import { startRawReceiver } from '../../support/receivers/misbehaving-receivers.ts';
import { post } from '../../support/receivers/posting.ts';

const opened: { close(): Promise<void> }[] = [];
let authority: Authority;

beforeAll(async () => {
  authority = await createAuthority();
});
afterEach(async () => {
  for (const each of opened.splice(0).reverse()) await each.close();
});

async function attempt(
  certificate: { certPem: string; keyPem: string },
  options: { host?: string; extraCa?: string | null; tls?: object; header?: string } = {},
) {
  const receiver = await startRawReceiver(
    certificate,
    (socket) => void socket.write(`HTTP/1.1 200 OK\r\n${options.header ?? ''}Content-Length: 0\r\n\r\n`),
    options.tls,
  );
  const transport = openTransport({
    clock: systemClock(),
    totalTimeoutMs: 5000,
    connectTimeoutMs: 3000,
    egress: { ports: [443], allow: parseEgressAllow('127.0.0.0/8,localhost') },
    extraCa: options.extraCa === undefined ? authority.certPem : options.extraCa,
  });
  opened.push(receiver, transport);
  const origin = `https://${options.host ?? '127.0.0.1'}:${receiver.port}`;
  const request = {
    merchantId: 'm1',
    origin,
    path: '/',
    headers: ['Authorization', 'API-Key whsec_x'],
    body: Buffer.from('{}'),
    mask: null,
  };
  const first = await post(transport, request);
  const second = await post(transport, request);
  return { receiver, first: first.exchange, second: second.exchange };
}

const good = () => issueCertificate(authority, { hosts: ['localhost', '127.0.0.1'] });

/** Makes an authority that another one vouches for. */
async function intermediate(by: Authority, name: string): Promise<Authority> {
  const names = [
    { name: 'commonName', value: name },
    { name: 'organizationName', value: 'An Authority' },
  ];
  const made = await generate(names, {
    ...{ keyType: 'ec', curve: 'P-256', algorithm: 'sha256' },
    ca: { key: by.keyPem, cert: by.certPem },
    extensions: [
      { name: 'basicConstraints', cA: true, critical: true },
      { name: 'keyUsage', keyCertSign: true, critical: true },
    ],
  });
  return { certPem: made.cert, keyPem: made.private };
}

test.each(['localhost', '127.0.0.1'])('a valid certificate for %s is accepted', async (host) => {
  const { receiver, first } = await attempt(await good(), { host });
  expect(first).toMatchObject({ kind: 'acknowledged' });
  expect(receiver.received).toContain('API-Key whsec_x');
});

test('a receiver with TLS 1.2 is accepted, and only HTTP/1.1 is offered to it', async () => {
  const { first } = await attempt(await good(), {
    tls: { maxVersion: 'TLSv1.2', ALPNProtocols: ['h2', 'http/1.1'] },
  });
  expect(first).toMatchObject({ kind: 'acknowledged' });
});

test.each(['TLSv1.2', 'TLSv1.3'] as const)(
  'a receiver that asks for a client certificate, and does not require it, is accepted on each connection with %s',
  async (version) => {
    const tls = { requestCert: true, rejectUnauthorized: false, minVersion: version, maxVersion: version };
    // The second connection resumes the TLS session of the first.
    const { receiver, first, second } = await attempt(await good(), { tls, header: 'Connection: close\r\n' });
    expect([first, second]).toMatchObject([{ kind: 'acknowledged' }, { kind: 'acknowledged' }]);
    expect(receiver.accepted).toBe(2);
    expect(receiver.received.match(/API-Key whsec_x/g)).toHaveLength(2);
  },
);

describe('a receiver gets not one byte of HTTP', () => {
  const cases: [string, () => Promise<Awaited<ReturnType<typeof attempt>>>][] = [
    [
      'an expired certificate',
      async () =>
        attempt(
          await issueCertificate(authority, {
            hosts: ['127.0.0.1'],
            notBefore: new Date('2020-01-01'),
            notAfter: new Date('2020-02-01'),
          }),
        ),
    ],
    ['a certificate of an unknown authority', async () => attempt(await good(), { extraCa: null })],
    ['a self-signed certificate', async () => attempt(await createAuthority())],
    [
      'a certificate for another name',
      async () => attempt(await issueCertificate(authority, { hosts: ['a.example'] })),
    ],
    [
      'a certificate for another name, asked for by name',
      async () => attempt(await issueCertificate(authority, { hosts: ['a.example'] }), { host: 'localhost' }),
    ],
    ...(['TLSv1', 'TLSv1.1'] as const).map((version): (typeof cases)[number] => [
      version,
      async () =>
        attempt(await good(), {
          tls: { minVersion: version, maxVersion: version, ciphers: 'DEFAULT@SECLEVEL=0' },
        }),
    ]),
  ];

  test.each(cases)('with %s', async (_, run) => {
    const { receiver, first, second } = await run();
    expect(first).toMatchObject({ kind: 'failed', failureCode: 'tls_error', response: null });
    // A second attempt must not get in by resuming the first one's session.
    expect(second).toMatchObject({ kind: 'failed', failureCode: 'tls_error' });
    expect(receiver.accepted).toBe(2);
    expect(receiver.received).toBe('');
  });
});

describe('the detail says what is wrong and what helps', () => {
  const asking = { requestCert: true, rejectUnauthorized: true } as const;
  const cases: [string, RegExp, () => ReturnType<typeof attempt>][] = [
    [
      'a client certificate is required, TLS 1.3',
      /CERTIFICATE_REQUIRED: the receiver requires a client certificate; /,
      async () => attempt(await good(), { tls: asking }),
    ],
    [
      'a client certificate is required, TLS 1.2',
      /requires a client certificate/,
      async () => attempt(await good(), { tls: { ...asking, maxVersion: 'TLSv1.2' } }),
    ],
    [
      'the issuer is not sent',
      /UNABLE_TO_VERIFY_LEAF_SIGNATURE: .* intermediate certificates .*\. Not sent: hookrail sandbox authority$/,
      async () => attempt(await good(), { extraCa: null }),
    ],
    [
      'one of two intermediate certificates is not sent',
      /UNABLE_TO_GET_ISSUER_CERT_LOCALLY: .*\. Not sent: Upper CA, An Authority$/,
      async () => {
        const upper = await intermediate(authority, 'Upper CA');
        const lower = await intermediate(upper, 'Lower CA');
        const leaf = await issueCertificate(lower, { hosts: ['127.0.0.1'] });
        return attempt({ ...leaf, certPem: `${leaf.certPem}\n${lower.certPem}` });
      },
    ],
    [
      'an issuer that is not sent has a name that would reorder the line',
      /Not sent: Up\\u202eper, An Authority$/,
      async () => {
        const upper = await intermediate(authority, 'Up\u202eper');
        return attempt(await issueCertificate(upper, { hosts: ['127.0.0.1'] }));
      },
    ],
    [
      'another name',
      /ERR_TLS_CERT_ALTNAME_INVALID: the certificate is for another name/,
      async () => attempt(await issueCertificate(authority, { hosts: ['a.example'] })),
    ],
    [
      'HTTP/2 only',
      /does not speak HTTP\/1\.1/,
      async () => attempt(await good(), { tls: { ALPNProtocols: ['h2'] } }),
    ],
  ];
  test.each(cases)('when %s', async (_, detail, run) => {
    const { first } = await run();
    expect(first).toMatchObject({
      kind: 'failed',
      failureCode: 'tls_error',
      detail: expect.stringMatching(detail),
    });
  });
});
