/**
 * The sandbox's authority: its certificates verify over real TLS for exactly the hosts they name, and the
 * authority of a directory stays the same one.
 */
import { X509Certificate } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { type AddressInfo, isIP } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect, createServer } from 'node:tls';
import { afterEach, expect, test } from 'vitest';
import {
  type Authority,
  type Certificate,
  CertificateError,
  createAuthority,
  issueCertificate,
  openAuthority,
} from '../../../simulator/receiver/certificate-authority.ts';

const closing: (() => void)[] = [];
afterEach(() => {
  for (const close of closing.splice(0)) close();
});

/** Makes one verified connection; resolves with "ok" or the error's code. */
async function handshake(
  authority: Authority,
  certificate: Certificate,
  servername: string,
): Promise<string> {
  const server = createServer({ cert: certificate.certPem, key: certificate.keyPem }, (socket) =>
    socket.end(),
  );
  server.on('tlsClientError', () => {});
  closing.push(() => server.close());
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return new Promise((resolve) => {
    // An IP address is checked against the address connected to, a name against the server name.
    const socket = connect({
      host: '127.0.0.1',
      port,
      ca: authority.certPem,
      ...(isIP(servername) ? {} : { servername }),
    });
    closing.push(() => socket.destroy());
    socket.on('secureConnect', () => resolve(socket.authorized ? 'ok' : 'unauthorized'));
    socket.on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
  });
}

test('a certificate verifies for the names and addresses it was issued for, and for no other', async () => {
  const authority = await createAuthority();
  const certificate = await issueCertificate(authority, { hosts: ['localhost', '127.0.0.1', '::1'] });
  expect(await handshake(authority, certificate, 'localhost')).toBe('ok');
  expect(await handshake(authority, certificate, '127.0.0.1')).toBe('ok');
  expect(await handshake(authority, certificate, 'other.example')).toBe('ERR_TLS_CERT_ALTNAME_INVALID');
  const parsed = new X509Certificate(certificate.certPem);
  expect(parsed.checkIP('::1')).toBe('::1');
  expect(parsed.publicKey.asymmetricKeyDetails?.namedCurve).toBe('prime256v1');
});

test('a certificate of another authority and an expired one are refused', async () => {
  const authority = await createAuthority();
  const stranger = await issueCertificate(await createAuthority(), { hosts: ['localhost'] });
  expect(await handshake(authority, stranger, 'localhost')).not.toBe('ok');
  const expired = await issueCertificate(authority, {
    hosts: ['localhost'],
    notBefore: new Date('2020-01-01'),
    notAfter: new Date('2020-02-01'),
  });
  expect(await handshake(authority, expired, 'localhost')).toBe('CERT_HAS_EXPIRED');
});

test('the authority of a directory is made once and kept, with a key for its owner alone', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'hookrail-ca-'));
  closing.push(() => rmSync(dir, { recursive: true }));
  const first = await openAuthority(join(dir, 'data'));
  expect(await openAuthority(join(dir, 'data'))).toEqual(first);
  expect(statSync(join(dir, 'data', 'ca.key')).mode & 0o777).toBe(0o600);
  expect(readFileSync(join(dir, 'data', 'ca.crt'), 'utf8')).toBe(first.certPem);
  writeFileSync(join(dir, 'data', 'ca.key'), (await createAuthority()).keyPem);
  await expect(openAuthority(join(dir, 'data'))).rejects.toThrow(/does not belong.*remove .*ca\.crt/);
});

test('hosts that cannot stand in a certificate are refused by name', async () => {
  const authority = await createAuthority();
  await expect(issueCertificate(authority, { hosts: [] })).rejects.toThrow(CertificateError);
  await expect(issueCertificate(authority, { hosts: ['a, CN=b'] })).rejects.toThrow(/"a, CN=b"/);
});
