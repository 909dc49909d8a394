import type { Operation } from './description.ts';
import { codeTabs } from './highlight.ts';
import type { Html } from './html.ts';
import { PLACEHOLDERS } from './placeholders.ts';

interface Request {
  readonly method: string;
  readonly url: string;
  /** Without Content-Type, which goes with a body. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: unknown;
}

/** Headers that a first request should have; others are described and left out. */
const SHOWN_HEADERS = ['Idempotency-Key', 'Prefer'];

/** The example merchant of the description: the sandbox puts its own here. */
const EXAMPLE_MERCHANT = '0a4f6a52-41f4-4c25-9a3e-9d4b8c4d6a10';

/** Returns the request that the samples of an operation make: its path with examples, its first body. */
export function requestOf(operation: Operation): Request {
  const path = operation.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => EXAMPLE_IDS[name] ?? `<${name}>`);
  const key = operation.scheme === 'producerKey' ? PLACEHOLDERS.producerKey : PLACEHOLDERS.merchantKey;
  const isPublic = operation.scheme === '';
  const shown = operation.parameters.filter(
    ({ in: place, name, example }) =>
      place === 'header' && example !== undefined && SHOWN_HEADERS.includes(name),
  );
  const [example] = Object.values(operation.body?.content['application/json']?.examples ?? {});
  return {
    method: operation.method,
    url: `${PLACEHOLDERS.baseUrl}${path}`,
    headers: [
      ...(isPublic ? [] : [['Authorization', `API-Key ${key}`] as const]),
      ...shown.map(({ name, example: value }) => [name, String(value)] as const),
    ],
    body: example === undefined ? undefined : withMerchant(example.value),
  };
}

const EXAMPLE_IDS: Readonly<Record<string, string>> = {
  id: '7d9f0c52-4a57-4a39-9c57-3c1a5a6e2f10',
  delivery_id: '0b3a4a6e-96a3-5b07-8a3b-2f4b35a0c4d1',
  replay_id: 'b1a7c2d3-4e5f-4a6b-8c7d-9e0f1a2b3c4d',
  event_id: '5c1f1f0e-2f35-4d0f-9d55-0d0a3e0c6b77',
};

function withMerchant(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value).replaceAll(EXAMPLE_MERCHANT, PLACEHOLDERS.merchantId));
}

/** Returns the samples of a request, as tabs. */
export function requestSamples(id: string, title: string, request: Request): Html {
  return codeTabs(id, title, [
    { label: 'curl', language: 'sh', code: curl(request) },
    { label: 'Node', language: 'js', code: node(request) },
    { label: 'Python', language: 'python', code: python(request) },
    { label: 'Go', language: 'go', code: go(request) },
    { label: 'PHP', language: 'php', code: php(request) },
  ]);
}

function headersOf({ headers, body }: Request): Request['headers'] {
  return body === undefined ? headers : [...headers, ['Content-Type', 'application/json']];
}

const indent = (text: string, by: string) => text.replaceAll('\n', `\n${by}`);

function curl(request: Request): string {
  const method = request.method === 'GET' ? '' : `-X ${request.method} `;
  const lines = [
    `curl ${method}${request.url}`,
    ...headersOf(request).map(([name, value]) => `-H '${name}: ${value}'`),
    ...(request.body === undefined
      ? []
      : [`-d '${JSON.stringify(request.body, null, 2).replaceAll("'", "'\\''")}'`]),
  ];
  return lines.join(' \\\n  ');
}

function node(request: Request): string {
  const headers = headersOf(request).map(([name, value]) => {
    const key = /^\w+$/.test(name) ? name : `'${name}'`;
    return `    ${key}: '${value}',`;
  });
  const options = [
    ...(request.method === 'GET' ? [] : [`  method: '${request.method}',`]),
    ...(headers.length === 0 ? [] : [`  headers: {\n${headers.join('\n')}\n  },`]),
    ...(request.body === undefined
      ? []
      : [`  body: JSON.stringify(${indent(literal(request.body, JS), '  ')}),`]),
  ];
  const given = options.length === 0 ? '' : `, {\n${options.join('\n')}\n}`;
  const call = `const response = await fetch('${request.url}'${given});`;
  return `${call}\nconsole.log(response.status, await response.text());`;
}

function python(request: Request): string {
  const headers = headersOf(request).map(([name, value]) => `        "${name}": "${value}",`);
  const body =
    request.body === undefined
      ? []
      : [`    data=json.dumps(${indent(literal(request.body, PYTHON), '    ')}).encode(),`];
  const head = request.body === undefined ? 'import urllib.request' : 'import json, urllib.request';
  return [
    head,
    '',
    'request = urllib.request.Request(',
    `    "${request.url}",`,
    `    method="${request.method}",`,
    ...(headers.length === 0 ? [] : [`    headers={\n${headers.join('\n')}\n    },`]),
    ...body,
    ')',
    'with urllib.request.urlopen(request) as response:',
    '    print(response.status, response.read().decode())',
  ].join('\n');
}

function go(request: Request): string {
  const isSent = request.body !== undefined;
  const imports = ['fmt', 'io', 'log', 'net/http', ...(isSent ? ['strings'] : [])];
  const body = isSent ? `strings.NewReader(\`${JSON.stringify(request.body, null, 2)}\`)` : 'nil';
  return [
    'package main',
    '',
    `import (\n${imports.map((name) => `\t"${name}"`).join('\n')}\n)`,
    '',
    'func main() {',
    `\trequest, _ := http.NewRequest("${request.method}", "${request.url}", ${body})`,
    ...headersOf(request).map(([name, value]) => `\trequest.Header.Set("${name}", "${value}")`),
    '\tresponse, err := http.DefaultClient.Do(request)',
    '\tif err != nil {\n\t\tlog.Fatal(err)\n\t}',
    '\tdefer response.Body.Close()',
    '\tanswer, _ := io.ReadAll(response.Body)',
    '\tfmt.Println(response.Status, string(answer))',
    '}',
  ].join('\n');
}

function php(request: Request): string {
  const headers = headersOf(request).map(([name, value]) => `        '${name}: ${value}',`);
  const content =
    request.body === undefined
      ? []
      : [`    'content' => json_encode(${indent(literal(request.body, PHP), '    ')}),`];
  return [
    '<?php',
    "$context = stream_context_create(['http' => [",
    `    'method' => '${request.method}',`,
    ...(headers.length === 0 ? [] : [`    'header' => [\n${headers.join('\n')}\n    ],`]),
    ...content,
    "    'ignore_errors' => true,",
    ']]);',
    `$body = file_get_contents('${request.url}', false, $context);`,
    'echo $http_response_header[0], "\\n", $body, "\\n";',
  ].join('\n');
}

/** How a language writes the values of JSON. */
interface Notation {
  readonly list: readonly [string, string];
  readonly object: readonly [string, string];
  readonly member: (name: string, value: string) => string;
  readonly text: (value: string) => string;
  readonly word: (value: unknown) => string;
  readonly step: string;
}

const quoted = (text: string) => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;

const JS: Notation = {
  list: ['[', ']'],
  object: ['{', '}'],
  member: (name, value) => `${/^[A-Za-z_]\w*$/.test(name) ? name : quoted(name)}: ${value}`,
  text: quoted,
  word: String,
  step: '  ',
};

const PYTHON: Notation = {
  ...JS,
  member: (name, value) => `${JSON.stringify(name)}: ${value}`,
  text: (value) => JSON.stringify(value),
  word: (value) => ({ true: 'True', false: 'False', null: 'None' })[String(value)] ?? String(value),
  step: '    ',
};

const PHP: Notation = {
  ...JS,
  object: ['[', ']'],
  member: (name, value) => `${quoted(name)} => ${value}`,
  step: '    ',
};

function literal(value: unknown, notation: Notation): string {
  if (typeof value === 'string') return notation.text(value);
  if (typeof value !== 'object' || value === null) return notation.word(value);
  const isList = Array.isArray(value);
  const [open, close] = isList ? notation.list : notation.object;
  const members = isList
    ? value.map((item) => literal(item, notation))
    : Object.entries(value).map(([name, item]) => notation.member(name, literal(item, notation)));
  if (members.length === 0) return open + close;
  if (isList && value.every((item) => typeof item !== 'object'))
    return `${open}${members.join(', ')}${close}`;
  const lines = members.map((member) => `${notation.step}${indent(member, notation.step)},`);
  return `${open}\n${lines.join('\n')}\n${close}`;
}
