/**
 * The API description and its page are served, work without the internet, and are allowed to run by their own
 * security policy.
 */
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parse } from 'yaml';
import { OPENAPI_FILE } from '../../services/api/description.ts';
import { startTestApi, type TestApi } from '../support/api/test-api.ts';

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi();
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

test('/docs loads everything from the service, and its security policy allows that', async () => {
  const page = await fetch(`${api.api.url}/docs`);
  expect(page.url).toBe(`${api.api.url}/docs/`);
  const html = await page.text();
  const sources = [...html.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, source]) => source ?? '');
  expect(sources.length).toBeGreaterThan(4);
  for (const source of sources) {
    const asset = await fetch(new URL(source, page.url));
    expect([source, asset.status, new URL(asset.url).origin]).toEqual([source, 200, api.api.url]);
  }
  expect(html).not.toMatch(/<script>(?!\s*<)/);
  const policy = page.headers.get('content-security-policy') ?? '';
  for (const directive of ["script-src 'self'", "connect-src 'self'", "img-src 'self' data:"]) {
    expect(policy).toContain(directive);
  }
  const initializer = await (await fetch(`${api.api.url}/docs/swagger-initializer.js`)).text();
  expect(initializer).toContain("url: '/openapi.yaml'");
  expect(initializer).not.toContain('petstore');
});

test('/docs serves nothing outside its folder', async () => {
  for (const path of ['/docs/../package.json', '/docs/%2e%2e/%2e%2e/package.json', '/docs/nothing.js']) {
    expect([path, (await fetch(api.api.url + path)).status]).toEqual([path, 404]);
  }
});
