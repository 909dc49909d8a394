/** The pages of what producers send agree with what the service takes, and the search finds them. */
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { isRequired } from '../../scripts/producers/rules-table.ts';
import { decodeEventJson, eventSchemaText } from '../../services/codec/events.ts';
import { fieldsOf, SUB_TYPES } from '../../services/domain/catalog/catalog.ts';
import { EVENT_TYPES } from '../../services/domain/event.ts';

const read = (path: string) =>
  readFileSync(new URL(`../../schemas/reference/${path}`, import.meta.url), 'utf8');
const plain = (html: string) =>
  html
    .replaceAll(/<[^>]+>/g, '')
    .replaceAll('&quot;', '"')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&');

/** The JSON samples of a page, in the order of the subTypes. */
function samplesOf(type: string) {
  const [, part = ''] = /<h2 id="json">([\s\S]*?)<\/section>/.exec(read(`producers/${type}.html`)) ?? [];
  return [...part.matchAll(/<pre\b[^>]*>([\s\S]*?)<\/pre>/g)].map(([, code = '']) => JSON.parse(plain(code)));
}

describe.each(EVENT_TYPES)('the page of %s', (type) => {
  test('has an event of every subType, which the service takes', () => {
    const samples = samplesOf(type);
    expect(samples.map(({ header }) => header.subType)).toEqual(SUB_TYPES[type]);
    for (const sample of samples) expect(decodeEventJson(sample)).toMatchObject({ ok: true });
  });

  test('calls those fields required without which the service refuses an event', () => {
    for (const sample of samplesOf(type)) {
      const { subType } = sample.header;
      const needed = fieldsOf(type).filter(({ name }) => {
        const decoded = decodeEventJson({ ...sample, data: { ...sample.data, [name]: null } });
        return (
          !decoded.ok &&
          decoded.errors.some(({ pointer, code }) => pointer === `/data/${name}` && code === 'required')
        );
      });
      const told = fieldsOf(type).filter((field) => isRequired(field, subType));
      expect([subType, told.map(({ name }) => name)]).toEqual([subType, needed.map(({ name }) => name)]);
    }
    const page = plain(read(`producers/${type}.html`));
    for (const field of fieldsOf(type)) expect(page).toContain(field.name);
  });

  test('has the Avro schema that is registered', () => {
    const [, code = ''] =
      /<h2 id="avro">[\s\S]*?<pre\b[^>]*>([\s\S]*?)<\/pre>/.exec(read(`producers/${type}.html`)) ?? [];
    expect(JSON.parse(plain(code))).toEqual(JSON.parse(eventSchemaText(type)));
  });
});

test('the search finds the page of each type by what its reader asks', () => {
  const entries: { title: string; kind: string; url: string; text: string }[] = JSON.parse(
    read('search.json'),
  );
  for (const type of EVENT_TYPES) {
    const found = entries.filter(({ title, text }) => `${title} ${text}`.includes(`Publish ${type}`));
    expect(found.map(({ url }) => url)).toContain(`producers/${type}`);
    for (const asked of ['Avro schema', 'JSON of each subType', 'Fields of data that producers send'])
      expect(entries.some(({ title, url }) => title === asked && url.startsWith(`producers/${type}#`))).toBe(
        true,
      );
  }
});
