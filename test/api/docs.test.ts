/**
 * The API description and the reference are served, work without the internet, and are allowed to run by their own
 * security policy.
 */
import { readFileSync } from 'node:fs';
import { get } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { OPENAPI_FILE } from '../../services/api/description.ts';
import { fieldsOf, SUB_TYPES } from '../../services/domain/catalog/catalog.ts';
import { MACHINES } from '../../services/domain/catalog/machines.ts';
import { EVENT_TYPES } from '../../services/domain/event.ts';
import { openDocs } from '../support/api/docs-visit.ts';
import { openapi, operations } from '../support/api/openapi-check.ts';
import { startTestApi, type TestApi } from '../support/api/test-api.ts';

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi({ names: ['tunnel.example'] });
});
afterAll(() => api.close());

test('/openapi.yaml joins both files, whole, and every reference resolves within it', async () => {
  const response = await fetch(`${api.api.url}/openapi.yaml`);
  expect(response.headers.get('content-type')).toContain('application/yaml');
  // The parser refuses a name that is there twice.
  const served = parse(await response.text());
  const operations = parse(readFileSync(OPENAPI_FILE, 'utf8'));
  const webhooks = parse(readFileSync(new URL('../../schemas/webhooks.yaml', import.meta.url), 'utf8'));
  const { components, tags, ...others } = operations;
  const sections = Object.keys({ ...components, ...webhooks.components });
  expect(served).toEqual({
    ...others,
    tags: [...tags, ...webhooks.tags],
    webhooks: webhooks.webhooks,
    components: Object.fromEntries(
      sections.map((name) => [name, { ...components[name], ...webhooks.components[name] }]),
    ),
  });
  const references = [...JSON.stringify(served).matchAll(/"\$ref":"([^"]+)"/g)].map(([, ref]) => ref ?? '');
  expect(references.length).toBeGreaterThan(100);
  for (const reference of references) {
    const [root, ...parts] = reference.split('/');
    expect([reference, root]).toEqual([reference, '#']);
    expect([reference, typeof parts.reduce((node, part) => node?.[part], served)]).toEqual([
      reference,
      'object',
    ]);
  }
});

describe('the reference at /docs', () => {
  test('consists of pages that link to what there is, and load nothing from elsewhere', async () => {
    const entry = await fetch(`${api.api.url}/docs`);
    expect(entry.url).toBe(`${api.api.url}/docs/`);
    const seen = new Map<string, string>();
    const waiting = [entry.url];
    for (const url of waiting) {
      if (seen.has(url)) continue;
      const response = await fetch(url);
      expect([url, response.status]).toEqual([url, 200]);
      const text = await response.text();
      seen.set(url, text);
      if (!response.headers.get('content-type')?.startsWith('text/html')) continue;
      const policy = response.headers.get('content-security-policy') ?? '';
      expect(policy).toMatch(/default-src 'none';.*script-src 'self';style-src 'self'/);
      expect(policy).not.toContain('unsafe');
      expect(text).not.toMatch(/ style=| on\w+=|<style|<script>/);
      for (const [, attribute, target = ''] of text.matchAll(/\s(src|href)="([^"]+)"/g)) {
        const { href, origin, hash } = new URL(target, url);
        if (origin !== api.api.url) expect([target, attribute]).toEqual([target, 'href']);
        else if (hash === '' || !target.startsWith('#')) waiting.push(href.replace(/#.*/, ''));
        if (origin === api.api.url && hash !== '') anchors.push([href.replace(/#.*/, ''), hash.slice(1)]);
      }
    }
    expect(seen.size).toBeGreaterThan(25);
    for (const [url, id] of anchors)
      expect([url, id, seen.get(url)?.includes(` id="${id}"`)]).toEqual([url, id, true]);
  });

  test('describes every operation with samples in five languages, and every error it has', async () => {
    const pages = new Map<string, string>();
    for (const { method, path, operation } of operations()) {
      const address = `/docs/operations/${slug(operation.tags[0] ?? '')}`;
      const page = pages.get(address) ?? (await (await fetch(api.api.url + address)).text());
      pages.set(address, page);
      const section =
        page.split('<section ').find((part) => part.includes(`id="${operation.operationId}"`)) ?? '';
      for (const label of ['curl', 'Node', 'Python', 'Go', 'PHP']) {
        expect(section).toContain(`aria-label="${method.toUpperCase()} ${path}, ${label}"`);
      }
      for (const response of Object.values<{ $ref?: string }>(operation.responses)) {
        const name = response.$ref?.split('/').at(-1) ?? '';
        for (const code of openapi.components.responses[name]?.['x-codes'] ?? [])
          expect(section).toContain(`<code>${code}</code>`);
      }
    }
    expect(pages.size).toBe(8);
  });

  test('has a page for every event type, with its subTypes, bodies and state machine', async () => {
    for (const type of EVENT_TYPES) {
      const page = await (await fetch(`${api.api.url}/docs/events/${type}`)).text();
      for (const subType of SUB_TYPES[type])
        expect([type, page.includes(`<h2 id="${subType}">`)]).toEqual([type, true]);
      for (const state of Object.keys(MACHINES[type] ?? {})) {
        expect([type, state, page.includes(`>${state}</t`)]).toEqual([type, state, true]);
      }
      for (const field of fieldsOf(type))
        expect([type, page.includes(`<code class="name">${field.name}</code>`)]).toEqual([type, true]);
    }
  });

  test('is filled in for who opened the link of the sandbox, and for nobody else', async () => {
    const access = {
      merchantKey: 'sk_sandbox_mine',
      producerKey: 'pk_sandbox_mine',
      merchantId: 'my-merchant',
    };
    api.api.docs.fillIn(access);
    const path = '/docs/operations/producers';
    const cookie = await openDocs(api.api.url, access);
    const mine = await fetch(api.api.url + path, { headers: { cookie } });
    expect(mine.headers.get('cache-control')).toBe('no-store');
    const text = await mine.text();
    expect(text).toContain(` -X POST ${api.api.url}/producer/events`);
    expect(text).toContain('API-Key pk_sandbox_mine');
    expect(text).toContain('my-merchant');
    expect(text).not.toMatch(/\{\{[a-z-]+\}\}/);
    // A tunnel from elsewhere to this machine.
    const foreign = await withHost(path, 'tunnel.example');
    expect(foreign).toContain('http://tunnel.example/producer/events');
    expect(foreign).toContain('API-Key pk_sandbox_…');
    expect(foreign).not.toMatch(/sandbox_mine|my-merchant/);
    // A site that points its own name at this machine.
    for (const host of ['evil.example', 'localhost.evil.example', '127.0.0.1.nip.io', 'a"onload="b'])
      expect(await withHost(path, host)).toMatch(/"code":"unknown_host"/);
  });

  test('never has a key in production', async () => {
    const production = await startTestApi({ environment: 'production' });
    const { docs, url } = production.api;
    docs.fillIn({ merchantKey: production.keys.own, producerKey: production.keys.producer, merchantId: 'm' });
    const text = await (await fetch(`${url}/docs/operations/producers`)).text();
    expect(text).toContain('API-Key pk_live_…');
    expect(text).not.toContain(production.keys.own);
    expect(text).not.toContain(production.keys.producer);
    await production.close();
  });

  test('serves nothing outside its folder', async () => {
    for (const path of [
      '/docs/../package.json',
      '/docs/%2e%2e/%2e%2e/package.json',
      '/docs/nothing.js',
      '/docs/index.html',
    ]) {
      expect([path, (await fetch(api.api.url + path)).status]).toEqual([path, 404]);
    }
  });
});

test('/ says where things are: to programs as JSON, to browsers by the reference', async () => {
  const answer = await fetch(api.api.url);
  expect([answer.status, await answer.json()]).toMatchObject([
    200,
    {
      reference: '/docs/',
      description: '/openapi.yaml',
      console: '/console/',
      producer_api: '/producer/events',
    },
  ]);
  const browser = await fetch(api.api.url, {
    headers: { accept: 'text/html,*/*;q=0.8' },
    redirect: 'manual',
  });
  expect([browser.status, browser.headers.get('location')]).toEqual([302, '/docs/']);
});

const anchors: [string, string][] = [];
const slug = (tag: string) =>
  tag
    .toLowerCase()
    .replaceAll(/[()]/g, '')
    .replaceAll(/[\s.]+/g, '-');

/** The body of a response to a request under another name of this machine. */
function withHost(path: string, host: string): Promise<string> {
  return new Promise((resolve, reject) => {
    get(`${api.api.url}${path}`, { setHost: false, headers: [['Host', host]].flat() }, (response) => {
      response.toArray().then((chunks) => resolve(Buffer.concat(chunks).toString()), reject);
    }).on('error', reject);
  });
}
