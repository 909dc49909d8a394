// The order in which the search of the reference lists what it found. The page's script and the tests use it.

/** Words that a question has, and no page is about: they decide nothing unless there are no others. */
const COMMON = new Set(
  'a an the my our your i we you it is are was were be do does did have has of to in on for from by with and or'.split(
    ' ',
  ),
);

/** Returns the words by which entries are looked up: in lower case, a plural as its singular, common ones left out. */
function wordsOf(asked) {
  const all = asked
    .toLowerCase()
    .replaceAll(/[?!,;"]/g, ' ')
    .split(/\s+/)
    .filter(Boolean);
  const telling = all.filter((word) => !COMMON.has(word));
  return (telling.length > 0 ? telling : all).map((word) => word.replace(/(?<=[a-z]{3}[a-rt-z])s$/, ''));
}

/** How well an entry fits a word: the beginning of a title counts most, a title more than the text. */
function pointsOf(entry, word) {
  if (entry.title.startsWith(word)) return 12;
  if (entry.keywords.includes(word)) return 10;
  if (entry.title.includes(word)) return 8;
  return 1;
}

/** How well an entry fits: every word must occur, and what is asked for word by word comes first. */
function rank(entry, words, asked) {
  let points = 0;
  for (const word of words) {
    if (!entry.all.includes(word)) return 0;
    points += pointsOf(entry, word);
  }
  const isNamed = entry.names.includes(asked) || entry.phrases.some((phrase) => asked.includes(phrase));
  return points + (isNamed ? 60 : 0) + (entry.isPage ? 1 : 0);
}

/** An entry as it is compared. */
function prepared({ title, kind, url, text, names = [], phrases = [] }) {
  const lower = title.toLowerCase();
  const keywords = phrases.join(' ').toLowerCase();
  return {
    title: lower,
    names: names.map((name) => name.toLowerCase()),
    phrases: phrases.map((phrase) => phrase.toLowerCase()),
    keywords,
    all: `${lower} ${kind} ${url} ${keywords} ${text}`.toLowerCase(),
    isPage: !url.includes('#'),
  };
}

/** Returns the entries that fit, the best first. */
export function search(entries, asked) {
  const words = wordsOf(asked);
  if (words.length === 0) return [];
  const whole = asked.toLowerCase().trim().replaceAll(/\s+/g, ' ');
  return entries
    .map((entry) => [rank(prepared(entry), words, whole), entry])
    .filter(([points]) => points > 0)
    .sort(([a], [b]) => b - a)
    .map(([, entry]) => entry);
}
