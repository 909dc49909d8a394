import { escaped, Html, html } from './html.ts';

const LANGUAGES = {
  sh: { name: 'Shell', comment: /#.*/ },
  json: { name: 'JSON', comment: undefined },
  http: { name: 'HTTP', comment: undefined },
  js: { name: 'Node', comment: /\/\/.*/ },
  python: { name: 'Python', comment: /#.*/ },
  go: { name: 'Go', comment: /\/\/.*/ },
  php: { name: 'PHP', comment: /\/\/.*/ },
  yaml: { name: 'YAML', comment: /#.*/ },
} as const;

export type Language = keyof typeof LANGUAGES;

export function isLanguage(name: string): name is Language {
  return Object.hasOwn(LANGUAGES, name);
}

const STRING = /"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|`[^`]*`/;
const NUMBER = /(?<![\w.-])-?\d+(?:\.\d+)?(?![\w.-])/;
const WORD =
  /\b(?:import|from|const|let|await|async|return|if|new|true|false|null|nil|None|True|False|def|class|with|as|lambda|func|package|main|var|type|struct|go|defer|fn|echo|print|curl|export|npm|function|for|in|not|and|or)\b/;

/** Marks strings, numbers, comments and a few words, so that a sample is easy to read. Nothing more is understood. */
function marked(code: string, language: Language): Html {
  const { comment } = LANGUAGES[language];
  // A comment begins a line or follows a space: the `//` of an address is none.
  const remark = comment === undefined ? '(?!)' : `(?<=^|\\s)${comment.source}`;
  const word = language === 'json' ? '\\b(?:true|false|null)\\b' : WORD.source;
  const token = new RegExp(
    `(?<c>${remark})|(?<s>${STRING.source})|(?<n>${NUMBER.source})|(?<w>${word})`,
    'gm',
  );
  let out = '';
  let end = 0;
  for (const match of code.matchAll(token)) {
    const [text] = match;
    const kind = Object.entries(match.groups ?? {}).find(([, found]) => found !== undefined)?.[0] ?? '';
    const isName = kind === 's' && language === 'json' && /^\s*:/.test(code.slice(match.index + text.length));
    out += `${escaped(code.slice(end, match.index))}<span class="${isName ? 'k' : kind}">${escaped(text)}</span>`;
    end = match.index + text.length;
  }
  return new Html(out + escaped(code.slice(end)));
}

/** A block of code. It can be scrolled by keyboard; the script adds a button that copies it. */
export function codeBlock(code: string, language: Language, label: string = LANGUAGES[language].name): Html {
  const body = language === 'http' ? new Html(escaped(code)) : marked(code, language);
  return html`<pre class="code" data-language="${language}" tabindex="0" role="region" aria-label="${label}"><code>${body}</code></pre>`;
}

/** Code in several languages or forms, one of which is shown. Works without a script: the tabs are radio buttons. */
export function codeTabs(
  id: string,
  title: string,
  tabs: readonly { readonly label: string; readonly language: Language; readonly code: string }[],
): Html {
  const one = (tab: (typeof tabs)[number], index: number) => {
    const isFirst = index === 0;
    return html`<input type="radio" name="${id}" id="${id}-${index}" data-tab="${tab.label}"${isFirst ? new Html(' checked') : ''}><label for="${id}-${index}">${tab.label}</label>`;
  };
  return html`<div class="sample" role="group" aria-label="${title}"><p class="sample-title">${title}</p><div class="tabs">${tabs.map(one)}${tabs.map((tab) => codeBlock(tab.code, tab.language, `${title}, ${tab.label}`))}</div></div>`;
}

/** One piece of code with a title. */
export function codeSample(title: string, language: Language, code: string): Html {
  return html`<div class="sample"><p class="sample-title">${title}</p>${codeBlock(code, language, title)}</div>`;
}
