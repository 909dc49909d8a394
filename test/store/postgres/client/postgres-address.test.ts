import { describe, expect, it } from 'vitest';
import { readConfig } from '../../../../services/config/config.ts';
import { isStorePlain } from '../../../../services/store/open.ts';
import { parsePostgresUrl } from '../../../../services/store/postgres/client/postgres-address.ts';

const ON_POSTGRES = {
  HOOKRAIL_ENGINE: 'kafka',
  HOOKRAIL_KAFKA_BROKERS: 'kafka-1:9092',
  HOOKRAIL_SCHEMA_REGISTRY_URL: 'https://registry:8081',
  HOOKRAIL_STORE: 'postgres',
};

describe('the address of PostgreSQL', () => {
  it('names a primary and its standbys, a user and a database', () => {
    const address = parsePostgresUrl(
      'postgres://hook%40rail:p%3Aw@db1.example.com,db2:6432/hooks',
      undefined,
    );
    expect(address).toMatchObject({
      hosts: [
        { host: 'db1.example.com', port: 5432 },
        { host: 'db2', port: 6432 },
      ],
      user: 'hook@rail',
      password: 'p:w',
      database: 'hooks',
    });
    const v6 = parsePostgresUrl('postgresql://u@[::1]:7000/d', undefined);
    expect(v6).toMatchObject({ hosts: [{ host: '::1', port: 7000 }], password: undefined });
    const socket = parsePostgresUrl('postgres://u@/d?host=/run/postgresql&port=5433', undefined);
    expect(socket.hosts).toEqual([{ host: '/run/postgresql', port: 5433 }]);
  });

  it('is verified by TLS, unless all of it is on this machine or that is switched off', () => {
    const sslOf = (url: string, ca?: string) => parsePostgresUrl(url, ca).ssl;
    expect(sslOf('postgres://u@db/d', 'CA')).toEqual({ rejectUnauthorized: true, ca: 'CA' });
    expect(sslOf('postgres://u@localhost,db/d')).toEqual({ rejectUnauthorized: true });
    expect(sslOf('postgres://u@127.0.0.1,localhost/d')).toBe(false);
    expect(sslOf('postgres://u@localhost/d?sslmode=verify-full')).toEqual({ rejectUnauthorized: true });
    expect(sslOf('postgres://u@db/d?sslmode=disable')).toBe(false);
    expect(sslOf('postgres://u@/d?host=/run/postgresql')).toBe(false);
    expect(sslOf('postgres://u@[::1]/d')).toBe(false);
    expect(sslOf('postgres://u@127.255.0.9:6432/d')).toBe(false);
  });

  it.each([
    ...['127.evil.example', '127.0.0.1.nip.io', 'localhost.evil.example', 'localhost.', '127.0.0.1.'],
    ...['0x7f.1', '2130706433', '0177.0.0.1', '127.1', '127.0.0.1,127.evil.example', '0.0.0.0', '[::]'],
    ...['[::ffff:127.0.0.1]', '[::2]', 'LOCALHOST', 'ip6-localhost', '@run'],
    ...['127.0.0.1%00.evil.example', 'localhost%2eevil.example', '%2Frun%2Fpostgresql'],
  ])('of which the host %s is not this machine by itself, is verified by TLS', (host) => {
    const { ssl } = parsePostgresUrl(`postgres://u@${host}/d`, undefined);
    expect(ssl).toEqual({ rejectUnauthorized: true });
  });

  it.each(['127.evil.example', 'localhost.', '2130706433', 'localhost,127.0.0.1.nip.io'])(
    'of which the parameter host=%s is not this machine by itself, is verified by TLS',
    (host) => {
      const { ssl } = parsePostgresUrl(`postgres://u@localhost/d?host=${host}`, undefined);
      expect(ssl).toEqual({ rejectUnauthorized: true });
    },
  );

  it.each([
    ['db.example.com', true],
    ['127.0.0.1.nip.io', true],
    ['localhost,db', true],
    ['127.0.0.1', false],
    ['?host=/run/postgresql', false],
  ])('of %s crosses a network in the clear with sslmode=disable: %s', (host, isPlain) => {
    const [authority, query] = host.startsWith('?') ? ['', `${host.slice(1)}&`] : [host, ''];
    const url = `postgres://u@${authority}/d?${query}sslmode=disable`;
    expect(isStorePlain(readConfig({ ...ON_POSTGRES, HOOKRAIL_POSTGRES_URL: url }))).toBe(isPlain);
    const verified = url.replace('sslmode=disable', 'sslmode=verify-full');
    expect(isStorePlain(readConfig({ ...ON_POSTGRES, HOOKRAIL_POSTGRES_URL: verified }))).toBe(false);
  });

  it.each([
    ['mysql://u@db/d', 'is not a URL such as postgres://'],
    ['postgres://db/d', 'names no user'],
    ['postgres://u:secret@db', 'names no database'],
    ['postgres://u:secret@/d', 'names no host'],
    ['postgres://u:secret@db:70000/d', '70000 is not a port'],
    ['postgres://u:secret@db:a/d', 'names no host in "db:a"'],
    ['postgres://u:secret@db/d?sslmode=require', 'sslmode is require'],
    ['postgres://u:secret@db/d?sslcert=x', 'parameter sslcert'],
  ])('%s is refused, without a word of its password', (url, reason) => {
    const parse = () => parsePostgresUrl(url, undefined);
    expect(parse).toThrow(reason);
    expect(parse).not.toThrow('secret');
  });
});
