import { ERROR_CODES } from '../../services/api/error-codes.ts';
import { allOperations, type Operation, type Response, TAGS } from './description.ts';
import { codeSample, codeTabs } from './highlight.ts';
import { type Html, html, slugOf } from './html.ts';
import type { Page } from './layout.ts';
import { inline, prose } from './markdown.ts';
import { requestOf, requestSamples } from './samples.ts';
import { parameterTable, schemaTable } from './schema-table.ts';

const PLACES = [
  ['path', 'Path'],
  ['query', 'Query'],
  ['header', 'Headers'],
] as const;

/** One page per tag of the description that has operations. */
export function operationPages(): Page[] {
  const operations = allOperations();
  return TAGS.flatMap(({ name, description }): Page[] => {
    const own = operations.filter(({ tag }) => tag === name);
    if (own.length === 0) return [];
    return [
      {
        path: `operations/${slugOf(name)}`,
        title: name,
        section: 'Operations',
        summary: description.replaceAll('`', ''),
        isWide: true,
        parts: own.map(({ operationId, summary, method }) => ({ id: operationId, label: summary, method })),
        content: html`<div class="lead">${prose(description)}</div>${contents(own)}${own.map(operationSection)}`,
      },
    ];
  });
}

function contents(operations: readonly Operation[]): Html {
  return html`<ul class="routes">${operations.map(
    ({ method, path, operationId, summary }) =>
      html`<li><a href="#${operationId}"><span class="method ${method.toLowerCase()}">${method}</span> <code>${broken(path)}</code><span class="what">${summary}</span></a></li>`,
  )}</ul>`;
}

/** A path that may be broken after its slashes. */
function broken(path: string): Html {
  return html`${path.split(/(?<=\/)/).map((part) => html`${part}<wbr>`)}`;
}

function operationSection(operation: Operation): Html {
  const { method, path, operationId, summary, description, body } = operation;
  const schema = body?.content['application/json']?.schema;
  const fields = schema && schemaTable(schema, true);
  return html`<section class="operation" aria-labelledby="${operationId}">
<div class="text">
<h2 id="${operationId}"><a href="#${operationId}">${summary}</a></h2>
<p class="route"><span class="method ${method.toLowerCase()}">${method}</span> <code>${broken(path)}</code></p>
${description !== undefined && prose(description)}
<p class="auth">${authentication(operation)}</p>
${PLACES.map(([place, title]) => {
  const parameters = operation.parameters.filter((parameter) => parameter.in === place);
  return parameters.length > 0 && html`<h3>${title}</h3>${parameterTable(parameters)}`;
})}
${body !== undefined && html`<h3>Body</h3>${body.description !== undefined && prose(body.description)}${fields}`}
${answers(operation)}
${errors(operation)}
</div>
<div class="samples">
${requestSamples(`${operationId}-request`, `${method} ${path}`, requestOf(operation))}
${otherBodies(operation)}
${answerSamples(operation)}
</div>
</section>`;
}

function authentication({ scheme, scope }: Operation): Html {
  switch (scheme) {
    case '':
      return html`No key is needed.`;
    case 'producerKey':
      return html`Authenticate with a producer key (<code>pk_sandbox_…</code> or <code>pk_live_…</code>).`;
    case 'platformKey':
      return html`Authenticate with a key of the platform (<code>plk_sandbox_…</code> or <code>plk_live_…</code>) that has the scope <code>${scope}</code>.`;
    case 'consoleSession':
      return html`The browser’s cookie of the console authenticates.`;
    default:
      return html`Authenticate with a merchant key (<code>sk_…</code>).`;
  }
}

const isAnswer = ([status]: readonly [string, Response]) => Number(status) < 400;

function answers({ responses }: Operation): Html {
  return html`<h3>Answers</h3>${Object.entries(responses)
    .filter(isAnswer)
    .map(([status, response]) => {
      const [content] = Object.values(response.content ?? {});
      const fields = content?.schema && schemaTable(content.schema, false);
      const headers = Object.keys(response.headers ?? {}).map(
        (name, i) => html`${i > 0 && ', '}<code>${name}</code>`,
      );
      return html`<div class="answer"><p><span class="status">${status}</span> ${inline(response.description)}</p>${headers.length > 0 && html`<p>Headers: ${headers}</p>`}${fields && html`<details class="inner"><summary>Fields</summary>${fields}</details>`}</div>`;
    })}`;
}

function errors({ responses }: Operation): Html {
  const rows = Object.entries(responses)
    .filter((entry) => !isAnswer(entry))
    .flatMap(([status, response]) => (response['x-codes'] ?? []).map((code) => [status, code] as const));
  const row = ([status, code]: (typeof rows)[number]) => {
    const { title, hint } = ERROR_CODES[code as keyof typeof ERROR_CODES];
    return html`<tr><td><span class="status bad">${status}</span></td><td><code>${code}</code><br>${title}. ${hint}</td></tr>`;
  };
  return html`<details class="errors"><summary>Errors <span class="count">${rows.length}</span></summary><table><thead><tr><th>Status</th><th>Code, meaning and what to do</th></tr></thead><tbody>${rows.map(row)}</tbody></table></details>`;
}

const json = (value: unknown) => JSON.stringify(value, null, 2);

/** The other examples of the body: the first one is in the samples. */
function otherBodies({ operationId, body }: Operation): Html | undefined {
  const examples = Object.entries(body?.content['application/json']?.examples ?? {}).slice(1);
  if (examples.length === 0) return undefined;
  const tabs = examples.map(([name, { summary, value }]) => ({
    label: summary ?? name,
    language: 'json' as const,
    code: json(value),
  }));
  return codeTabs(`${operationId}-bodies`, 'Other bodies', tabs);
}

function answerSamples({ operationId, responses }: Operation): Html | undefined {
  const all = Object.entries(responses)
    .filter(isAnswer)
    .flatMap(([status, { content }]) =>
      Object.values(content ?? {}).flatMap(({ examples }) =>
        Object.entries(examples ?? {}).map(([name, { summary, value }]) => ({
          status,
          name: summary ?? name,
          value,
        })),
      ),
    );
  const [first, ...others] = all;
  if (first === undefined) {
    const [status] = Object.keys(responses);
    return codeSample('Answer', 'http', `${status} ${responses[status ?? '']?.description ?? ''}`);
  }
  if (others.length === 0) return codeSample(`Answer ${first.status}`, 'json', json(first.value));
  const tabs = all.map(({ status, name, value }) => ({
    label: `${status} ${name}`,
    language: 'json' as const,
    code: json(value),
  }));
  return codeTabs(`${operationId}-answers`, 'Answer', tabs);
}
