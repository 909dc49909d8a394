import { distance } from 'fastest-levenshtein';

/** Comparing long names takes quadratic time and is useless. */
const NAME_LENGTH_MAX = 60;

/**
 * Returns "; did you mean a, b?" with the known names most like a mistyped one, best first; empty when all are entirely
 * different.
 */
export function didYouMean(name: string, known: readonly string[], most = 3): string {
  if (name.length > NAME_LENGTH_MAX) return '';
  const wanted = name.toLowerCase();
  const near = known
    .map((candidate) => {
      const text = candidate.toLowerCase();
      // A path that ends in the name is the best match: data.amountFiat for amountFiat.
      return { candidate, edits: text.endsWith(`.${wanted}`) ? 0 : distance(wanted, text) };
    })
    .filter(({ candidate, edits }) => edits <= Math.max(2, candidate.length / 2))
    .sort((a, b) => a.edits - b.edits || a.candidate.localeCompare(b.candidate))
    .slice(0, most);
  return near.length === 0 ? '' : `; did you mean ${near.map(({ candidate }) => candidate).join(', ')}?`;
}
