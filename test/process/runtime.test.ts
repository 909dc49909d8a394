/** The base of every process: the clock that never fires early, the key ring, stopping in reverse order. */
import { execFileSync, spawn } from 'node:child_process';
import { lstatSync, mkdtempSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { KeyRing } from '../../services/keys/keyring.ts';
import { addKey, removeKey } from '../../services/keys/keyring-file.ts';
import { systemClock } from '../../services/process/clock.ts';
import { Lifecycle } from '../../services/process/lifecycle.ts';

describe('the system clock', () => {
  it('fires at or after the due time, never before', async () => {
    const clock = systemClock();
    const dues = Array.from({ length: 200 }, (_, index) => clock.now() + (index % 40) + index / 200);
    const fired = await Promise.all(
      dues.map((due) => new Promise<number>((resolve) => clock.at(due, () => resolve(clock.now() - due)))),
    );
    expect(Math.min(...fired)).toBeGreaterThanOrEqual(0);
  });

  it.each([3_600_000, -3_600_000])('runs on evenly when the system’s time is set by %d ms', (step) => {
    const clock = systemClock();
    const before = clock.now();
    expect(Math.abs(clock.wall() - Date.now())).toBeLessThan(200);
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + step });
    try {
      expect(clock.now() - before).toBeLessThan(60_000);
      expect(clock.now()).toBeGreaterThanOrEqual(before);
      expect(Math.abs(clock.wall() - Date.now())).toBeLessThan(200);
      expect(Math.abs(clock.wall(before) - before - step)).toBeLessThan(200);
    } finally {
      vi.useRealTimers();
    }
    expect(Math.abs(clock.wall() - Date.now())).toBeLessThan(200);
  });

  it('fires no cancelled timer, and ends a sleep at once on a signal', async () => {
    const clock = systemClock();
    const callback = vi.fn();
    clock.at(clock.now() + 5, callback)();
    const stop = new AbortController();
    const sleeping = clock.sleep(3_600_000, stop.signal);
    stop.abort();
    await sleeping;
    await clock.sleep(10);
    expect(callback).not.toHaveBeenCalled();
  });
});

describe('the key ring', () => {
  const file = () => join(mkdtempSync(join(tmpdir(), 'keyring-')), 'keyring.json');

  it('opens what it sealed, for the same owner only', () => {
    const path = file();
    KeyRing.create(path);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    const ring = KeyRing.read(path);
    const sealed = ring.seal('whsec_canary', 'endpoint-1');
    expect(JSON.stringify(sealed)).not.toContain('canary');
    expect(ring.open(sealed, 'endpoint-1')).toBe('whsec_canary');
    expect(() => ring.open(sealed, 'endpoint-2')).toThrow('cannot be opened');
    expect(() => KeyRing.create(path)).toThrow('EEXIST');
  });

  it('opens what an older key sealed, and names a missing key', () => {
    const path = file();
    KeyRing.create(path);
    const sealed = KeyRing.read(path).seal('s', 'e');
    const { keys } = JSON.parse(readFileSync(path, 'utf8'));
    const other = Buffer.alloc(32, 7).toString('base64');
    writeFileSync(path, JSON.stringify({ active: 'k2', keys: { ...keys, k2: other } }));
    expect(KeyRing.read(path).open(sealed, 'e')).toBe('s');
    writeFileSync(path, JSON.stringify({ active: 'k2', keys: { k2: other } }));
    expect(() => KeyRing.read(path).open(sealed, 'e')).toThrow('key "k1" is needed');
  });

  it('finds a key that was added to its file, without a restart, and keeps its older keys', () => {
    const path = file();
    KeyRing.create(path);
    const [sealing, opening] = [KeyRing.read(path), KeyRing.read(path)];
    const old = sealing.seal('old', 'e');
    const added = addKey(path);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    // Nobody has asked for it: who seals goes on with the key it knows until it is told.
    expect(sealing.active).toBe('k1');
    sealing.reread();
    expect(sealing.active).toBe(added);
    const fresh = sealing.seal('new', 'e');
    expect(fresh.keyId).toBe(added);
    expect(opening.open(fresh, 'e')).toBe('new');
    removeKey(path, 'k1');
    opening.reread();
    expect(opening.open(old, 'e')).toBe('old');
    expect(KeyRing.read(path).lacks([['k1', 2]])).toEqual([
      `key ring ${path} lacks key "k1", which 2 endpoints need`,
    ]);
  });

  it('without keys, of a process that uses none, has none and reads no file', () => {
    const path = file();
    KeyRing.create(path);
    for (const ring of [KeyRing.empty(path), KeyRing.empty(`${path}.gone`)]) {
      expect(ring.has('k1')).toBe(false);
      expect(() => ring.seal('s', 'e')).toThrow('has no active key');
    }
  });

  it('looks into the file for an unknown key at most once a second', () => {
    const path = file();
    KeyRing.create(path);
    const ring = KeyRing.read(path);
    expect(ring.has('k9')).toBe(false);
    const added = addKey(path);
    expect(ring.has(added)).toBe(false);
  });

  it('keeps its keys when the file is spoiled, or gives an id to another key', () => {
    const path = file();
    KeyRing.create(path);
    const ring = KeyRing.read(path);
    const sealed = ring.seal('s', 'e');
    writeFileSync(path, '{"active": "k1", "ke');
    expect(() => ring.reread()).toThrow('is malformed');
    const other = Buffer.alloc(32, 7).toString('base64');
    writeFileSync(path, JSON.stringify({ active: 'k1', keys: { k1: other } }));
    expect(() => ring.reread()).toThrow('key "k1" of key ring');
    expect(ring.open(sealed, 'e')).toBe('s');
  });

  it('is changed by one process at a time, never loses its active key, and explains a refusal', () => {
    const path = file();
    KeyRing.create(path);
    expect(() => removeKey(path, 'k1')).toThrow('is the active one');
    expect(() => removeKey(path, 'k7')).toThrow('it has k1');
    writeFileSync(`${path}.new`, '');
    const before = readFileSync(path, 'utf8');
    expect(() => addKey(path)).toThrow(`${path}.new exists`);
    expect(readFileSync(path, 'utf8')).toBe(before);
  });

  it('is not changed when it is a pipe, which stays one', () => {
    const path = file();
    const ring = file();
    KeyRing.create(ring);
    execFileSync('mkfifo', [path]);
    spawn('sh', ['-c', 'cat "$0" > "$1"', ring, path]);
    expect(() => addKey(path)).toThrow(`key ring ${path} is not a regular file`);
    expect(lstatSync(path).isFIFO()).toBe(true);
  });

  it.each([
    ['not json', 'it is not JSON'],
    ['{}', '"active" must name a key'],
    ['{"active":"k1"}', '"keys" must be an object'],
    ['{"active":"k1","keys":{"k1":"c2hvcnQ="}}', 'key "k1" must be the base64 of 32 bytes'],
    [`{"active":"k2","keys":{"k1":"${Buffer.alloc(32).toString('base64')}"}}`, '"active" names "k2"'],
  ])('is refused with %s, in one line that says why', (text, why) => {
    const path = file();
    writeFileSync(path, text);
    expect(() => KeyRing.read(path)).toThrow(`key ring ${path} is malformed: ${why}`);
    expect(() => KeyRing.read(`${path}.gone`)).toThrow(
      'does not exist; make one with: hookrail operator keyring',
    );
  });
});

describe('the stop of a process', () => {
  it('stops the parts in reverse order, once, past failures, and names these', async () => {
    const lifecycle = new Lifecycle();
    const stopped: string[] = [];
    const part = (name: string, fails = false) =>
      lifecycle.onStop(name, async () => {
        stopped.push(name);
        if (fails) throw new Error('stuck');
      });
    part('store');
    part('broker', true);
    part('api');
    await expect(lifecycle.stop()).rejects.toThrow('stopping failed: broker: stuck');
    await expect(lifecycle.stop()).rejects.toThrow('broker: stuck');
    expect(stopped).toEqual(['api', 'broker', 'store']);
  });

  it('succeeds without any part', async () => {
    await expect(new Lifecycle().stop()).resolves.toBeUndefined();
  });
});
