import { describe, expect, it } from 'vitest';
import { parsePostgresUrl } from '../../../../services/store/postgres/client/postgres-address.ts';

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
