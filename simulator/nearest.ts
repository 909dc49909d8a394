import { distance } from 'fastest-levenshtein';

const SHOWN_MAX = 3;

/** Returns the known words most like a mistyped one, best first; at most three, none that is entirely different. */
function nearestOf(word: string, known: readonly string[]): readonly string[] {
  const wanted = word.toLowerCase();
  const scored = known.map((candidate) => {
    const text = candidate.toLowerCase();
    // A path that ends in the word is meant: data.amountFiat for amountFiat.
    const score = text.endsWith(`.${wanted}`) ? 0 : distance(wanted, text);
    return { candidate, score };
  });
  const close = scored.filter(({ candidate, score }) => score <= Math.max(2, candidate.length / 2));
  return close
    .sort((a, b) => a.score - b.score || a.candidate.localeCompare(b.candidate))
    .slice(0, SHOWN_MAX)
    .map(({ candidate }) => candidate);
}

/** Returns "; did you mean a, b?" or nothing. */
export function nearest(word: string, known: readonly string[]): string {
  const found = nearestOf(word, known);
  return found.length === 0 ? '' : `; did you mean ${found.join(', ')}?`;
}
