// What the reference can do with a script: search, the switch between versions, copying, and a language that is kept.
// Everything else works without it.

import { search } from './search.js';

const root = new URL(document.body.dataset.root, location.href);

/** Storage may be refused; then a choice lasts as long as the page. */
const kept = {
  get(name) {
    try {
      return localStorage.getItem(`hookrail.${name}`);
    } catch {
      return null;
    }
  },
  set(name, value) {
    try {
      localStorage.setItem(`hookrail.${name}`, value);
    } catch {}
  },
};

// The switch between versions of the API

const versions = document.querySelector('#version');

function showVersion(version) {
  for (const element of document.querySelectorAll('[data-only]')) {
    element.hidden = !element.dataset.only.split(' ').includes(version);
  }
}

if (versions) {
  versions.parentElement.hidden = false;
  const before = kept.get('version');
  if ([...versions.options].some(({ value }) => value === before)) versions.value = before;
  showVersion(versions.value);
  versions.addEventListener('change', () => {
    kept.set('version', versions.value);
    showVersion(versions.value);
  });
}

// The language of the samples: chosen once, shown everywhere

function showLanguage(label) {
  for (const input of document.querySelectorAll('.tabs > input')) {
    if (input.dataset.tab === label) input.checked = true;
  }
}

const language = kept.get('language');
if (language) showLanguage(language);
document.addEventListener('change', ({ target }) => {
  const label = target.dataset?.tab;
  if (!['curl', 'Node', 'Python', 'Go', 'PHP'].includes(label)) return;
  kept.set('language', label);
  const before = target.getBoundingClientRect().top;
  showLanguage(label);
  // Samples above may have become longer or shorter: what was chosen stays where it is.
  scrollBy({ top: target.getBoundingClientRect().top - before, behavior: 'instant' });
});

// Copy buttons

for (const sample of document.querySelectorAll('.sample')) {
  const button = document.createElement('button');
  button.type = 'button';
  button.className = 'copy';
  button.textContent = 'Copy';
  button.addEventListener('click', async () => {
    const shown = [...sample.querySelectorAll('.code')].find((code) => code.offsetParent !== null);
    try {
      await navigator.clipboard.writeText(shown.textContent);
      button.textContent = 'Copied';
    } catch {
      button.textContent = 'Press Ctrl-C';
      getSelection().selectAllChildren(shown);
    }
    setTimeout(() => {
      button.textContent = 'Copy';
    }, 1500);
  });
  sample.querySelector('.sample-title').after(button);
}

// Search

const input = document.querySelector('#search');
const found = document.querySelector('#found');
const RESULTS_MAX = 12;
let entries;
let chosen = -1;

input.closest('search').hidden = false;

async function load() {
  entries ??= fetch(new URL('search.json', root)).then((response) => response.json());
  return entries;
}

function show(results, isAsked) {
  chosen = -1;
  const items = results.map((entry, index) => {
    const item = document.createElement('li');
    item.id = `found-${index}`;
    item.setAttribute('role', 'option');
    item.setAttribute('aria-selected', 'false');
    const link = document.createElement('a');
    link.href = new URL(entry.url, root);
    link.tabIndex = -1;
    link.textContent = entry.title;
    const kind = document.createElement('span');
    kind.textContent = entry.kind;
    link.append(kind);
    item.append(link);
    return item;
  });
  if (items.length === 0) {
    const none = document.createElement('li');
    none.className = 'none';
    none.textContent = 'Nothing was found.';
    items.push(none);
  }
  found.replaceChildren(...items);
  found.hidden = !isAsked;
  input.setAttribute('aria-expanded', String(isAsked));
  input.removeAttribute('aria-activedescendant');
}

function choose(by) {
  const items = [...found.querySelectorAll('[role=option]')];
  if (items.length === 0) return;
  chosen = (chosen + by + items.length) % items.length;
  for (const [index, item] of items.entries()) item.setAttribute('aria-selected', String(index === chosen));
  items[chosen].scrollIntoView({ block: 'nearest' });
  input.setAttribute('aria-activedescendant', items[chosen].id);
}

input.addEventListener('input', async () => {
  const asked = input.value;
  const all = await load();
  if (asked !== input.value) return;
  show(search(all, asked).slice(0, RESULTS_MAX), asked.trim() !== '');
});

input.addEventListener('keydown', (event) => {
  if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
    event.preventDefault();
    choose(event.key === 'ArrowDown' ? 1 : chosen < 0 ? 0 : -1);
  }
  if (event.key === 'Enter') found.querySelectorAll('a')[Math.max(chosen, 0)]?.click();
  if (event.key === 'Escape') show([], false);
});

found.addEventListener('click', ({ target }) => {
  if (target.closest('a')) show([], false);
});

document.addEventListener('click', ({ target }) => {
  if (!target.closest('search')) show([], false);
});

document.addEventListener('keydown', (event) => {
  if (event.key !== '/' || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.target.matches('input, select, textarea')) return;
  event.preventDefault();
  input.focus();
});

// The list of pages, when it is a layer, closes when a part of this page was chosen

const pages = document.querySelector('#pages');
pages.addEventListener('click', ({ target }) => {
  if (target.closest('a') && pages.matches(':popover-open')) pages.hidePopover();
});
