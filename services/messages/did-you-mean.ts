import { distance } from 'fastest-levenshtein';

/** Comparing long names takes quadratic time and is useless. */
const NAME_LENGTH_MAX = 60;

/** Returns the known names most like a mistyped one, best first; none when all are entirely different. */
export function nearestNames(name: string, known: readonly string[], most = 3): readonly string[] {
  if (name.length > NAME_LENGTH_MAX) return [];
  const wanted = name.toLowerCase();
  return known
    .map((candidate) => {
      const text = candidate.toLowerCase();
      // A path that ends in the name is the best match: data.amountFiat for amountFiat.
      return { candidate, edits: text.endsWith(`.${wanted}`) ? 0 : distance(wanted, text) };
    })
    .filter(({ candidate, edits }) => edits <= Math.max(2, candidate.length / 2))
    .sort((a, b) => a.edits - b.edits || a.candidate.localeCompare(b.candidate))
    .slice(0, most)
    .map(({ candidate }) => candidate);
}

/** Returns "; did you mean a, b?" with the nearest names; empty when there are none. */
export function didYouMean(name: string, known: readonly string[], most = 3): string {
  const near = nearestNames(name, known, most);
  return near.length === 0 ? '' : `; did you mean ${near.join(', ')}?`;
}
